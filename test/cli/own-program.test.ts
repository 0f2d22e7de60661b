import { expect, it } from 'vitest';
import { ownProgramEnv } from '../../src/cli/own-program.ts';

it.each([
  [{ NODE_COMPILE_CACHE: '/cache', HTTPS_PROXY: 'http://proxy' }, { NODE_COMPILE_CACHE: '/cache' }],
  [
    { NODE_COMPILE_CACHE: '/cache', NODE_COMPILE_CACHE_PORTABLE: '1', PATH: '/bin' },
    { NODE_COMPILE_CACHE: '/cache', NODE_COMPILE_CACHE_PORTABLE: '1' },
  ],
  [{ HTTPS_PROXY: 'http://proxy' }, {}],
])('passes on where compiled code is, and nothing else, of %o', (env, expected) => {
  expect(ownProgramEnv(env)).toEqual(expected);
});
