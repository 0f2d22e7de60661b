import { describe, expect, it } from 'vitest';
import { createIdentityReader } from '../../../src/console/login/identity.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { memoryTokens } from './bed.ts';

const { signal } = new AbortController();
const bearer = (token: string) => () => Promise.resolve(token);

function readerFor(tokens: ReturnType<typeof memoryTokens>) {
  return createIdentityReader({ connectUser: tokens.connectUser, createId: () => 'invented' });
}

describe('createIdentityReader', () => {
  it('CON-20 is the user whom the API server names, and closes each connection', async () => {
    const tokens = memoryTokens({ a: { name: 'anna', machines: [] } });
    const reader = readerFor(tokens);
    expect(await reader.read(bearer('a'), signal)).toEqual({
      name: 'anna',
      groups: ['system:authenticated'],
    });
    await expect(reader.read(bearer('b'), signal)).rejects.toMatchObject({ code: 'Unauthorized' });
    expect(tokens.clients()).toBe(0);
  });

  it('CON-21 asks with an invented token first, and only once', async () => {
    const tokens = memoryTokens({ a: { name: 'anna', machines: [] } });
    const reader = readerFor(tokens);
    await reader.read(bearer('a'), signal);
    await reader.read(bearer('a'), signal);
    expect(tokens.reviews()).toBe(3);
  });

  it.each([
    ['accepts an invented token', { invented: { name: 'system:admin', machines: [] } }, 'invented'],
    ['knows the user only as anonymous', { a: { name: 'system:anonymous', machines: [] } }, 'a'],
    ['names no user', { a: { name: '', machines: [] } }, 'a'],
  ])('CON-21 refuses an API server that %s', async (_, people, token) => {
    await expect(readerFor(memoryTokens(people)).read(bearer(token), signal)).rejects.toMatchObject({
      name: 'TokensNotJudged',
    });
  });

  it('asks again with an invented token after the API server could not be reached', async () => {
    const tokens = memoryTokens({ a: { name: 'anna', machines: [] } });
    const reader = readerFor(tokens);
    tokens.failing = new KubeError('Unreachable', 'connect ECONNREFUSED');
    await expect(reader.read(bearer('a'), signal)).rejects.toMatchObject({ code: 'Unreachable' });
    tokens.failing = undefined;
    await reader.read(bearer('a'), signal);
    expect(tokens.reviews()).toBe(3);
  });
});
