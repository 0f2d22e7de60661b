/** Turns the accepted state into what each component of this machine should be. */
import type { MachineComponentEntry } from '../../api/generated/types.ts';
import { entryDigest } from '../../api/machine/entry-content.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { DesiredComponent, EntryGrant } from '../component/input.ts';
import type { Host } from '../host/port.ts';
import { AGENT_COMPONENT, IDENTITY_KUBECONFIG } from '../layout.ts';
import type { TargetFacts } from '../target/facts.ts';
import { resolveTarget } from '../target/resolve.ts';
import type { AcceptedState } from './accepted.ts';

export interface ResolveContext {
  readonly host: Host;
  readonly clusterServer: string;
  /** Why this agent cannot be replaced by another version. */
  readonly noSelfUpgrade?: string;
  /** Whether the grant has expired, by both clocks. */
  readonly isExpired: (grant: NonNullable<MachineComponentEntry['grant']>) => boolean;
}

export async function resolveEntries(
  state: AcceptedState,
  context: ResolveContext,
): Promise<ReadonlyMap<string, DesiredComponent>> {
  const desired = new Map<string, DesiredComponent>();
  for (const entry of state.spec.components) {
    desired.set(entry.name, await resolveEntry(state, entry, context));
  }
  return desired;
}

async function resolveEntry(
  state: AcceptedState,
  entry: MachineComponentEntry,
  context: ResolveContext,
): Promise<DesiredComponent> {
  const reason = entry.name === AGENT_COMPONENT ? noUpgradeReason(entry, context) : undefined;
  if (reason !== undefined) return { state: 'Invalid', message: reason };
  const grant = grantOf(entry, context);
  if (entry.state === 'Absent') return { state: 'Absent', id: entryDigest(entry), ...grant };
  const spec = state.components[entry.componentRef];
  if (!spec) return { state: 'Invalid', message: `the MachineComponent ${entry.componentRef} was not found` };
  if (spec.identity === 'Kubelet' && !(await context.host.files.stat(IDENTITY_KUBECONFIG))) {
    return { state: 'Invalid', message: 'the certificate of the kubelet is not issued yet' };
  }
  const ports = await context.host.network.assignPorts(spec.component, spec.ports);
  const resolved = resolveTarget(entry, spec, await targetFacts(state, ports, context));
  if ('problem' in resolved) return { state: 'Invalid', message: resolved.problem.message };
  const existingNode = adoptionOf(state.spec.import);
  return { state: 'Present', target: resolved.target, ...grant, ...optional('existingNode', existingNode) };
}

function adoptionOf(host: AcceptedState['spec']['import']): 'Adopt' | 'Converge' | undefined {
  return host?.existingNode === 'Reject' ? undefined : host?.existingNode;
}

function noUpgradeReason(
  { state }: MachineComponentEntry,
  { noSelfUpgrade }: ResolveContext,
): string | undefined {
  if (state === 'Absent') return 'the agent cannot remove itself: remove the entry to leave it as it is';
  return noSelfUpgrade;
}

function grantOf(
  { grant }: MachineComponentEntry,
  { isExpired }: ResolveContext,
): { readonly grant?: EntryGrant } {
  if (!grant) return {};
  return { grant: { id: grant.id, entryDigest: grant.entryDigest, expired: isExpired(grant) } };
}

async function targetFacts(
  { name, spec, address }: AcceptedState,
  ports: ReadonlyMap<string, number>,
  { host, clusterServer }: ResolveContext,
): Promise<TargetFacts> {
  const { os, arch } = await host.node.facts();
  return {
    name,
    address: spec.import?.address ?? address ?? name,
    zone: spec.zone ?? '',
    os,
    arch,
    clusterServer,
    hostDirectory: host.directory,
    systemdUnits: host.capabilities.systemdUnits,
    portOf: (_component, port) => ports.get(port.name) ?? port.port,
  };
}
