/** Decides whether an instance may be created: its components must be able to run on it, or it would cost money and never be Ready. Pure. */
import type { ComponentArtifact, MachineComponent } from '../../../../api/generated/types.ts';
import type { InstancePlatform } from '../../../../providers/contract.ts';
import type { Explanation } from '../../../../rollout/explanation.ts';
import { type ServerVersions, skewReason } from '../../../../rollout/kubelet-skew.ts';
import type { ExpectedComponent } from './components.ts';

export interface CreationPreflightInput {
  readonly expected: readonly ExpectedComponent[];
  readonly find: (componentRef: string) => MachineComponent | undefined;
  /** The versions of the control plane that runs; undefined where no kubelet is expected. */
  readonly servers: ServerVersions | undefined;
  /** Undefined: not known, or nothing is downloaded there. */
  readonly platform: InstancePlatform | undefined;
}

/** Returns why no instance is created; undefined: it may be. */
export function creationReason(input: CreationPreflightInput): Explanation | undefined {
  for (const expected of input.expected) {
    const reason = componentReason(expected, input);
    if (reason) return reason;
  }
  return undefined;
}

/** Tells whether one of them is a kubelet, so that the versions of the control plane matter. */
export function expectsKubelet({
  expected,
  find,
}: Pick<CreationPreflightInput, 'expected' | 'find'>): boolean {
  return expected.some(({ componentRef }) => find(componentRef)?.spec.identity === 'Kubelet');
}

function componentReason(
  { name, componentRef }: ExpectedComponent,
  { find, servers, platform }: CreationPreflightInput,
): Explanation | undefined {
  const blocker = { kind: 'MachineComponent', name: componentRef };
  const found = find(componentRef);
  if (!found) {
    const because = `component ${name}: MachineComponent ${componentRef} does not exist. Apply it`;
    return { reason: 'ComponentMissing', because, blocker };
  }
  const { identity, version, artifacts } = found.spec;
  if (platform && artifacts.length > 0 && !artifacts.some((each) => isFor(each, platform))) {
    const because = `MachineComponent ${componentRef} has no artifact for ${textOf(platform)}. Add it in a new version, or choose another instance`;
    return { reason: 'ArtifactMissing', because, blocker };
  }
  return identity === 'Kubelet' && servers ? skewReason(version, servers) : undefined;
}

function isFor({ os, arch }: ComponentArtifact, platform: InstancePlatform): boolean {
  if (os !== 'any' && os !== platform.os) return false;
  return arch === 'any' || platform.arch === undefined || arch === platform.arch;
}

function textOf({ os, arch }: InstancePlatform): string {
  return arch === undefined ? os : `${os} ${arch}`;
}
