import { describe, expect, it } from 'vitest';
import type { MachineComponent } from '../../../../../src/api/generated/types.ts';
import {
  type CreationPreflightInput,
  creationReason,
  expectsKubelet,
} from '../../../../../src/controllers/machine/instance/preflight/plan.ts';

const AMD64 = { os: 'linux', arch: 'amd64' } as const;

function component(spec: object = {}): MachineComponent {
  const [os, arch, url] = ['linux', 'amd64', 'https://x/y'];
  return {
    metadata: { name: 'kubelet-1.34.2' },
    spec: { version: '1.34.2', identity: 'Kubelet', artifacts: [{ os, arch, url }], ...spec },
  } as unknown as MachineComponent;
}

function explain(
  found: MachineComponent | undefined,
  changes: Partial<CreationPreflightInput> = {},
): string | undefined {
  const explanation = creationReason({
    expected: [{ name: 'kubelet', componentRef: 'kubelet-1.34.2' }],
    find: () => found,
    servers: { state: 'Known', versions: ['v1.34.3'] },
    platform: AMD64,
    ...changes,
  });
  return explanation && `${explanation.reason}: ${explanation.because}`;
}

describe('creationReason', () => {
  it('MAC-35 permits an instance whose components can run on it', () => {
    expect(explain(component())).toBeUndefined();
    expect(explain(undefined, { expected: [] })).toBeUndefined();
  });

  it('MAC-35 holds it while a component does not exist', () => {
    expect(explain(undefined)).toBe(
      'ComponentMissing: component kubelet: MachineComponent kubelet-1.34.2 does not exist. Apply it',
    );
  });

  it.each<[string, object, Partial<CreationPreflightInput>, boolean]>([
    ['another architecture', { os: 'linux', arch: 'arm64' }, {}, true],
    ['another system', { os: 'darwin', arch: 'any' }, {}, true],
    ['any architecture', { os: 'linux', arch: 'any' }, {}, false],
    ['any system', { os: 'any', arch: 'amd64' }, {}, false],
    [
      'one architecture where that of the host is unknown',
      { os: 'linux', arch: 'arm64' },
      { platform: { os: 'linux' } },
      false,
    ],
    [
      'another system where the architecture is unknown',
      { os: 'darwin', arch: 'arm64' },
      { platform: { os: 'linux' } },
      true,
    ],
    [
      'another system where the host downloads nothing',
      { os: 'darwin', arch: 'arm64' },
      { platform: undefined },
      false,
    ],
  ])('MAC-35 judges an artifact for %s', (_, artifact, changes, isHeld) => {
    const reason = explain(component({ artifacts: [artifact] }), changes);
    expect(
      reason?.startsWith('ArtifactMissing: MachineComponent kubelet-1.34.2 has no artifact for linux'),
    ).toBe(isHeld || undefined);
  });

  it('MAC-35 permits a component without artifacts, which has files and units only', () => {
    expect(explain(component({ artifacts: [] }))).toBeUndefined();
  });

  it.each<[string, CreationPreflightInput['servers'], RegExp]>([
    ['is newer than the control plane', { state: 'Known', versions: ['v1.33.9'] }, /^KubeletSkew: .*newer/],
    ['is too old', { state: 'Known', versions: ['v1.38.0'] }, /^KubeletSkew: .*more than 3 minors older/],
    ['is three minors older', { state: 'Known', versions: ['v1.37.0'] }, /^permitted$/],
    ['cannot be compared', { state: 'Unknown', because: 'no answer' }, /^ServerVersionUnknown: /],
  ])('MAC-35 judges a kubelet that %s', (_, servers, expected) => {
    const reason = explain(component(), { servers });
    expect(reason ?? 'permitted').toMatch(expected);
  });

  it('MAC-35 does not compare the version of another component', () => {
    const servers = { state: 'Known', versions: ['v1.20.0'] } as const;
    expect(explain(component({ identity: undefined }), { servers })).toBeUndefined();
  });
});

describe('expectsKubelet', () => {
  it('MAC-35 asks for the versions of the control plane only where a kubelet is expected', () => {
    const expected = [{ name: 'a', componentRef: 'a-1' }];
    expect(expectsKubelet({ expected, find: () => component() })).toBe(true);
    expect(expectsKubelet({ expected, find: () => component({ identity: undefined }) })).toBe(false);
    expect(expectsKubelet({ expected, find: () => undefined })).toBe(false);
  });
});
