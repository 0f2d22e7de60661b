/** Finds the components of a revision that a machine may not get, by what they declare in `spec.compat`. Pure. */
import type { ComponentCompat, MachineComponentSpec } from '../../../api/generated/types.ts';
import type { EntryContent } from '../../../api/machine/entry-content.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { ServerVersions } from '../../../rollout/kubelet-skew.ts';
import type { MemberState } from '../machine/member-state.ts';
import { type HostParts, kernelOf } from '../machine/traits.ts';
import type { Revision } from '../revision/resolve.ts';
import { compareNumbers, numbersOf } from './numbered-version.ts';
import { rangeText, serverOutside } from './server-range.ts';

/** Finds what a MachineComponent declares. Undefined: no MachineComponent has that name. */
export type FindCompat = (componentRef: string) => Pick<MachineComponentSpec, 'compat'> | undefined;

export type ComparedMember = Pick<MemberState, 'name' | 'pinned'> & HostParts;

/** Returns why the machine may not get the revision. Undefined: it may, or has what limits it already. */
export type CompatRule = (member: ComparedMember, to: Revision) => Explanation | undefined;

interface Comparison {
  readonly member: ComparedMember;
  readonly entry: EntryContent;
  readonly compat: ComponentCompat;
}

/** Creates the rule. An unknown value holds the machine, and the message names what is missing. */
export function createCompatRule(servers: ServerVersions, find: FindCompat): CompatRule {
  const known = new Map<Revision, readonly Limited[]>();
  return (member, to) => {
    const limited = known.get(to) ?? limitedEntries(to, find);
    known.set(to, limited);
    for (const { entry, compat } of limited) {
      if (!isChanged(member, entry)) continue;
      const comparison = { member, entry, compat };
      const found =
        serverReason(comparison, servers) ?? kernelReason(comparison) ?? upgradeReason(comparison);
      if (found) return found;
    }
    return undefined;
  };
}

type Limited = Pick<Comparison, 'entry' | 'compat'>;

/** Tells whether a rule reads the versions of the API servers. */
export function comparesServers({ components }: Revision, find: FindCompat): boolean {
  return components.some(({ componentRef }) => find(componentRef)?.compat?.kubernetes !== undefined);
}

/** Most often there are none, so that a machine costs nothing. A removal is compared with nothing. */
function limitedEntries({ components }: Revision, find: FindCompat): readonly Limited[] {
  return components.flatMap((entry) => {
    const compat = entry.state === 'Absent' ? undefined : find(entry.componentRef)?.compat;
    return compat ? [{ entry, compat }] : [];
  });
}

function isChanged({ machine, pinned }: ComparedMember, { name, digest }: EntryContent): boolean {
  const present = machine.spec.components.find((each) => each.name === name);
  return !pinned.includes(name) && present?.digest !== digest;
}

function serverReason(
  { member, entry, compat: { kubernetes } }: Comparison,
  servers: ServerVersions,
): Explanation | undefined {
  if (!kubernetes || (kubernetes.min === undefined && kubernetes.max === undefined)) return undefined;
  const needs = `${member.name}: ${entry.componentRef} needs Kubernetes ${rangeText(kubernetes)}`;
  const blocker = { kind: 'MachineComponent', name: entry.componentRef };
  if (servers.state === 'Unknown') {
    const because = `${needs}, and the versions of the API servers are unknown: ${servers.because}`;
    return { reason: 'CompatibilityUnknown', because, blocker };
  }
  const outside = serverOutside(kubernetes, servers.versions);
  if (!outside) return undefined;
  if (outside.state === 'Unknown') {
    const because = `${needs}, and that cannot be compared with ${outside.version}`;
    return { reason: 'CompatibilityUnknown', because, blocker };
  }
  const hint = outside.state === 'Older' ? 'Upgrade the API server first' : 'Choose a newer version';
  const because = `${needs}, and an API server runs ${outside.version}. ${hint}`;
  return { reason: 'ComponentIncompatible', because, blocker };
}

function kernelReason({ member, entry, compat: { kernelMin } }: Comparison): Explanation | undefined {
  if (kernelMin === undefined) return undefined;
  const needs = `${member.name}: ${entry.componentRef} needs kernel ${kernelMin} or newer`;
  const kernel = kernelOf(member);
  if (kernel === undefined) return unknown(member, `${needs}, and no kernel is reported`);
  const [least, found] = [numbersOf(kernelMin), numbersOf(kernel)];
  if (!least || !found) return unknown(member, `${needs}, and that cannot be compared with ${kernel}`);
  if (compareNumbers(found, least) >= 0) return undefined;
  return incompatible(member, `${needs}, and the machine runs ${kernel}. Upgrade its kernel first`);
}

/** A component that is not installed is not upgraded: every version may come first. */
function upgradeReason({ member, entry, compat: { upgradeFrom } }: Comparison): Explanation | undefined {
  if (upgradeFrom.length === 0) return undefined;
  const needs = `${member.name}: ${entry.componentRef} can be installed over ${upgradeFrom.join(', ')}`;
  const running = runningRef(member, entry.name);
  if (running === 'Unknown') return unknown(member, `${needs}, and its agent does not report what runs`);
  if (running === 'None' || running === entry.componentRef) return undefined;
  const version = running.slice(entry.name.length + 1);
  if (upgradeFrom.some((from) => version === from || version.startsWith(`${from}.`))) return undefined;
  return incompatible(member, `${needs}, and the machine runs ${version}. Roll one of these out first`);
}

/** Returns what runs, by the agent: what is assigned may have been rolled back, or may not be there yet. */
function runningRef({ machine }: ComparedMember, name: string): string {
  const report = machine.status?.components?.find((each) => each.name === name);
  if (report) return report.currentRef ?? 'None';
  return machine.spec.components.some((each) => each.name === name) ? 'Unknown' : 'None';
}

function incompatible({ name }: ComparedMember, because: string): Explanation {
  return { reason: 'ComponentIncompatible', because, blocker: { kind: 'Machine', name } };
}

function unknown({ name }: ComparedMember, because: string): Explanation {
  return { reason: 'CompatibilityUnknown', because, blocker: { kind: 'Machine', name } };
}
