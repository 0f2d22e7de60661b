import { describe, expect, it } from 'vitest';
import { dependentServices } from '../../../../src/agent/host/systemd/dependents.ts';

describe('dependentServices', () => {
  it.each([
    ['none', '\n\n\n', []],
    [
      'services, and no targets',
      'kubelet.service multi-user.target\n\nkubelet.service a@b.service\n',
      ['kubelet', 'a@b'],
    ],
  ])('returns %s', async (_what, stdout, expected) => {
    const asked: (readonly string[])[] = [];
    const found = await dependentServices(async (argv) => {
      asked.push(argv);
      return { exitCode: 0, stdout, stderr: '' };
    }, 'containerd');
    expect(found).toEqual(expected);
    expect(asked[0]?.at(-1)).toBe('containerd.service');
  });
});
