import { describe, expect, it } from 'vitest';
import {
  isProcessOutdated,
  parseVersion,
} from '../../../../../src/controllers/hosting/drivers/process/running.ts';

const ARGS = ['--secure-port=1', '--emulated-version=1.35', '--v=2', '--profiling=false'];
const RUN = { version: 'v1.36.3', flags: {} };

function outdated(version: string | undefined, args: readonly string[], run: object = RUN): boolean {
  return isProcessOutdated('kube-apiserver', { version, args }, { run: { ...RUN, ...run }, args: ARGS });
}

describe('what a process of a member runs', () => {
  it.each([
    ['Kubernetes v1.35.4\n', 'v1.35.4'],
    ['etcd Version: 3.6.5\nGit SHA: x\nGo Version: go1.26.8\n', 'v3.6.5'],
    ['Kubernetes v1.36.0-rc.1+build', 'v1.36.0-rc.1+build'],
    ['no version', undefined],
    ['', undefined],
  ])('reads the version in %j', (text, expected) => expect(parseVersion(text)).toBe(expected));

  it('compares the version, and does not take an unknown one for another', () => {
    expect(outdated('v1.36.3', ARGS)).toBe(false);
    expect(outdated('v1.35.4', ARGS)).toBe(true);
    expect(outdated(undefined, ARGS)).toBe(false);
    expect(outdated('v1.36.3', ARGS, { version: undefined })).toBe(false);
  });

  it('compares the flags that a Cluster may change, in any order, and no others', () => {
    expect(outdated('v1.36.3', ARGS.toReversed())).toBe(false);
    expect(outdated('v1.36.3', ['--secure-port=2', '--added-by-a-later-hosting=1', ...ARGS.slice(1)])).toBe(
      false,
    );
    expect(outdated('v1.36.3', ARGS.toSpliced(1, 1))).toBe(true);
    expect(outdated('v1.36.3', ARGS.toSpliced(2, 1, '--v=4'))).toBe(true);
    const [etcd, other] = ['--quota-backend-bytes=1', '--quota-backend-bytes=2'].map((flag) => ({
      version: 'v3.6.8',
      args: [flag],
    }));
    const expected = { run: { version: 'v3.6.8', flags: {} }, args: ['--quota-backend-bytes=1'] };
    expect([etcd, other].map((each) => each && isProcessOutdated('etcd', each, expected))).toEqual([
      false,
      true,
    ]);
  });
});
