/** Refuses the start of a member whose port another program has. */
import { listProcesses } from '../../../../../local/processes/observe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { isPortFree } from '../../../../../os/net/ports.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { isBalancer, type PlaneMember } from '../../driver.ts';
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

/** The balancers share the port of clients. A program of others that has it is found before the first of them starts. */
async function requireSharedPort(
  { state, specs }: OpenPlane,
  member: PlaneMember,
  clock: Clock,
): Promise<void> {
  const port = state?.clusters[0]?.port;
  if (!isBalancer(member) || port === undefined) return;
  const processes = await listProcesses();
  const isShared = specs.some((spec) => isBalancer(spec.member) && findMember(spec, processes));
  if (!isShared) await requireFreePort({ member, port }, clock);
}

/** The kernel forgets the command line of a process that ends before it closes its sockets, so a member that just ended gets a moment. */
async function requireFreePort(spec: Pick<MemberSpec, 'member' | 'port'>, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonicMs() + CLOSED_MS;
  const isFree = await pollUntil(() => isPortFree(spec.port), { clock, everyMs: 50, deadlineMs });
  if (!isFree) throw portInUse(spec);
}
