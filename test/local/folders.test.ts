import { describe, expect, it } from 'vitest';
import { stateFolder } from '../../src/local/folders.ts';

describe('stateFolder', () => {
  it.each([
    [{ HOME: '/home/a' }, '/home/a/.local/state/kubenode/local'],
    [{ HOME: '/home/a', XDG_STATE_HOME: '/s' }, '/s/kubenode/local'],
    [{ HOME: '/home/a', XDG_STATE_HOME: 'relative' }, '/home/a/.local/state/kubenode/local'],
  ])('follows the XDG specification: %j', (env, expected) => {
    expect(stateFolder(env)).toBe(expected);
  });
});
