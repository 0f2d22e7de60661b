/** Refuses the start of a member whose port another program has. */
import { LOOPBACK } from '../../../../../local/processes/commands.ts';
import { listProcesses } from '../../../../../local/processes/observe.ts';
import type { LocalClusterState } from '../../../../../local/state.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { ALL_ADDRESSES, isPortFree } from '../../../../../os/net/ports.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { isBalancer, isGateway, type PlaneMember } from '../../driver.ts';
import { portsOf } from '../etcd/acts.ts';
import type { MemberSpec } from '../member-spec.ts';
import { findMember } from '../members.ts';
import type { OpenPlane } from '../plane.ts';
import { portInUse } from './refusals.ts';

const CLOSED_MS = 1000;

export async function requirePorts(found: OpenPlane, spec: MemberSpec, clock: Clock): Promise<void> {
  const { member } = spec;
  for (const port of portsOf(found, spec)) await requireFreePort({ member, port }, clock);
  await requireSharedPort(found, member, clock);
}

/** Balancers share the port of clients, and gateways that of other machines. A program of others that has it is found before the first of them starts. */
async function requireSharedPort(
  { state, specs }: OpenPlane,
  member: PlaneMember,
  clock: Clock,
): Promise<void> {
  const shared = sharedPort(member, state?.clusters[0]);
  if (!shared) return;
  const processes = await listProcesses();
  const isShared = specs.some((spec) => shared.isOfKind(spec.member) && findMember(spec, processes));
  if (!isShared) await requireFreePort({ member, port: shared.port }, clock, shared.address);
}

interface SharedPort {
  readonly port: number;
  readonly address: string;
  readonly isOfKind: (member: PlaneMember) => boolean;
}

function sharedPort(member: PlaneMember, cluster: LocalClusterState | undefined): SharedPort | undefined {
  if (!cluster) return undefined;
  const { port, exposure } = cluster;
  if (isBalancer(member)) return { port, address: LOOPBACK, isOfKind: isBalancer };
  if (!exposure || !isGateway(member)) return undefined;
  return { port: exposure.port, address: ALL_ADDRESSES, isOfKind: isGateway };
}

/** The kernel forgets the command line of a process that ends before it closes its sockets, so a member that just ended gets a moment. */
async function requireFreePort(
  spec: Pick<MemberSpec, 'member' | 'port'>,
  clock: Clock,
  address = LOOPBACK,
): Promise<void> {
  const deadlineMs = clock.monotonicMs() + CLOSED_MS;
  const isFree = await pollUntil(() => isPortFree(spec.port, address), { clock, everyMs: 50, deadlineMs });
  if (!isFree) throw portInUse(spec);
}
