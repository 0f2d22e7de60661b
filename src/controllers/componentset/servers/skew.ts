/** Finds the kubelets of a revision that may not run with the API servers that run now. Pure. */
import type { MachineComponentSpec } from '../../../api/generated/types.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { type ServerVersions, skewReason } from '../../../rollout/kubelet-skew.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { Revision } from '../revision/resolve.ts';

/** Finds the identity and the version of a MachineComponent. Undefined: no MachineComponent has that name. */
export type FindIdentity = (
  componentRef: string,
) => Pick<MachineComponentSpec, 'identity' | 'version'> | undefined;

/** Returns why the kubelet of the machine may not be moved to that of the revision. Undefined: it may, or is there already. */
export type SkewRule = (
  member: Pick<MemberState, 'name' | 'machine' | 'pinned'>,
  to: Revision,
) => Explanation | undefined;

export function createSkewRule(servers: ServerVersions, find: FindIdentity): SkewRule {
  const known = new Map<string, readonly ForbiddenKubelet[]>();
  return ({ machine, pinned }, to) => {
    const forbidden = known.get(to.name) ?? forbiddenKubelets(to, servers, find);
    known.set(to.name, forbidden);
    const moved = forbidden.find(({ name, digest }) => {
      const present = machine.spec.components.find((entry) => entry.name === name);
      return !pinned.includes(name) && present?.digest !== digest;
    });
    return moved?.wait;
  };
}

interface ForbiddenKubelet {
  readonly name: string;
  readonly digest: string;
  readonly wait: Explanation;
}

/** Returns the kubelets of a revision that may not run. Most often there are none, so that a machine costs nothing. */
function forbiddenKubelets(
  { components }: Revision,
  servers: ServerVersions,
  find: FindIdentity,
): readonly ForbiddenKubelet[] {
  return components.flatMap(({ name, digest, componentRef, state }) => {
    const found = find(componentRef);
    if (found?.identity !== 'Kubelet' || state === 'Absent') return [];
    const wait = skewReason(found.version, servers);
    return wait ? [{ name, digest, wait }] : [];
  });
}
