/** Asks the Defender of the hub before an act that takes a control plane, or a part of it, out of service. */
import { DENIALS, type DenyReason } from '../../../api/deny-reasons.ts';
import { DEFENDER_LEDGERS, DEFENDER_POLICIES } from '../../../api/generated/resources.ts';
import type { DefenderLedger, LedgerGrant } from '../../../api/generated/types.ts';
import {
  type Denial,
  type GrantAsk,
  type GrantPort,
  hostedControlPlaneKey,
  isInFlight,
} from '../../../api/grants.ts';
import { FLEET_DEFAULT, LEDGER } from '../../../api/names.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { needsGrant } from '../plan/grants.ts';
import type { HeldGrant, HostingAct, HostingWait } from '../plan/input.ts';
import { wait, withHint } from '../plan/wait.ts';

export interface PermissionParts {
  readonly grants: GrantPort;
  readonly context: ReconcileContext;
}

const ACTION = 'UpdateControlPlane';
/** The processes of a control plane end within seconds; a person may have to release a port or a file meanwhile. */
const EXPECTED_SECONDS = 300;

/**
 * Resolves to the denial as a wait, and to undefined when the act may be carried out. Each act renews the grant, so that a window, a freeze or
 * a stop that begins in the middle holds the next one. A hub without the policy fleet-default has no Defender to ask.
 */
export async function permissionWait(
  act: HostingAct,
  cluster: string,
  { grants, context }: PermissionParts,
): Promise<HostingWait | undefined> {
  if (!needsGrant(act) || !context.view(DEFENDER_POLICIES).get(FLEET_DEFAULT)) return undefined;
  const [grant] = await grants.ask([askOf(cluster, context)]);
  if (!grant?.granted) return denialWait(grant, cluster);
  const [renewed] = await grants.renew([{ id: grant.id, fence: grant.fence }]);
  return renewed?.granted ? undefined : denialWait(renewed, cluster);
}

function askOf(cluster: string, { clock }: ReconcileContext): GrantAsk {
  return {
    holder: { kind: 'Cluster', name: cluster, origin: `Cluster/${cluster}` },
    machine: hostedControlPlaneKey(cluster),
    action: ACTION,
    risk: 'Node',
    factsAt: clock.now(),
    expectedSeconds: EXPECTED_SECONDS,
  };
}

function denialWait(denial: Denial | undefined, cluster: string): HostingWait {
  const { reason, message, policy } = denial ?? { reason: 'LedgerUnavailable', message: 'no answer' };
  return wait(
    'GrantDenied',
    withHint(`${reason}: ${message}`, hintOf(reason, cluster)),
    policy === undefined ? [DEFENDER_LEDGERS.kind, LEDGER] : [DEFENDER_POLICIES.kind, policy],
  );
}

const UNANSWERED: readonly DenyReason[] = ['ApprovalPending', 'ApprovalTimedOut'];

/** Returns what ends the denial. The controllers list no act of hosting as one that waits, so an approver names it. */
function hintOf(reason: DenyReason, cluster: string): string {
  const key = hostedControlPlaneKey(cluster);
  if (UNANSWERED.includes(reason)) {
    return `kubenode defender approve ${key} --action ${ACTION} --holder Cluster/${cluster} --reason TEXT`;
  }
  const { hint } = DENIALS[reason];
  // A hint with a command for machines finds no control plane.
  return hint.includes('MACHINE') ? 'kubenode defender status lists the acts in work' : hint;
}

/** Returns the grant of hosting for the control plane that is in work, by the ledger. */
export function heldGrant(cluster: string, context: ReconcileContext): HeldGrant | undefined {
  const grants = context.view(DEFENDER_LEDGERS).get(LEDGER)?.spec.grants ?? {};
  const entry = ownValue(grants, hostedControlPlaneKey(cluster));
  return entry && isHeld(entry) ? { id: entry.id, fence: entry.fence } : undefined;
}

/** Returns the names of the Clusters for which hosting has a grant in work. */
export function clustersWithGrant({ spec }: DefenderLedger): readonly string[] {
  return Object.values(spec.grants)
    .filter(isHeld)
    .map(({ holder }) => holder.name);
}

/** Tells whether hosting has the grant, and not a person. */
function isHeld(entry: LedgerGrant): boolean {
  return isInFlight(entry) && entry.holder.kind === 'Cluster';
}

/**
 * Gives back the grant of a Cluster that does not exist: a person removed its finalizer, or the ledger was restored from a backup. No sweep of
 * the ledger does, so every limit would count it forever. How the act ended is unknown.
 */
export async function settleGrantLeft(cluster: string, { grants, context }: PermissionParts): Promise<void> {
  const grant = heldGrant(cluster, context);
  if (!grant) return;
  context.log.info('grant of a missing Cluster settled', { grant: grant.id });
  await grants.settle([{ ...grant, outcome: 'Ambiguous' }]);
}
