/**
 * Sweeps the ledger: drops what has expired, opens and closes breakers by what is observed, records deleted machines, settles
 * grants whose holder has ended, and reports. Level-based: every sweep starts from the ledger and the objects as they are,
 * so a process may end at any line and the next one continues.
 */
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  FLEET_ALLOWANCES,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type {
  DefenderLedger,
  DefenderLedgerSpec,
  DefenderPolicy,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import {
  EVENT_PREFIX,
  FLEET_ALLOWANCE,
  LEDGER,
  MANAGER_DEFENDER,
  NAMESPACE,
  PRINCIPAL_DEFENDER,
} from '../../api/names.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { generationChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { AlertReader } from '../alerts/alert-reader.ts';
import { failureReport } from '../allowance/failures.ts';
import type { ShareRequests } from '../allowance/share-requests.ts';
import { allowanceStatus } from '../allowance/status.ts';
import type { PendingApprovals } from '../approvals/pending.ts';
import type { ActRecorder } from '../audit/recorder.ts';
import type { FleetObserver } from '../facts/observer.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerChanges } from './changes.ts';
import type { DenialCounts } from './denial-counts.ts';
import { heldRules } from './held-rules.ts';
import { ledgerReportDelayMs } from './ledger-report-delay.ts';
import { ledgerStatus } from './ledger-status.ts';
import { countMachines } from './machine-counts.ts';
import { planExpiry, type SuspectPlan } from './plan.ts';
import { policyStatus } from './policy-status.ts';

export interface DefenderControllerOptions {
  readonly observer: FleetObserver;
  readonly ledger: Ledger;
  readonly denials: DenialCounts;
  readonly pending: PendingApprovals;
  /** Absent in a simulation of one cluster without a hub. */
  readonly requests?: ShareRequests;
  /** Whether the process has a view of MachineComponentSets: the hub learns which rollouts failed. */
  readonly hasRollouts?: boolean;
  /** Absent in a simulation, which keeps a record of its own. */
  readonly recorder?: ActRecorder;
  /** Absent in a simulation, whose policies name no query. */
  readonly alerts?: AlertReader;
}

const KEY = 'ledger';
/** Cooldowns and expiries are late by this much at most. */
const SWEEP_MS = 10_000;

interface Sweeper extends DefenderControllerOptions {
  /** The last state of the ledger whose changes were recorded as Events. */
  reported: DefenderLedgerSpec | undefined;
  /** Suspect grants that an Event was recorded for. */
  readonly alerted: Set<string>;
  /** Why the audit record could not be written the last time. */
  unrecorded: string | undefined;
}

export function createDefenderController(options: DefenderControllerOptions): Controller {
  const sweeper: Sweeper = { ...options, reported: undefined, alerted: new Set(), unrecorded: undefined };
  return {
    name: 'defender',
    reads: [
      read(DEFENDER_LEDGERS, { keys: onlyKey, changed: generationChanged }),
      read(DEFENDER_POLICIES, { keys: onlyKey, changed: generationChanged }),
      ...(options.requests ? [read(FLEET_ALLOWANCES, { keys: onlyKey, changed: generationChanged })] : []),
      ...(options.hasRollouts ? [read(MACHINE_COMPONENT_SETS, { keys: onlyKey, changed: () => false })] : []),
      // Changes of machines are counted at once; only a deletion is written.
      read(MACHINES, { keys: onlyKey, changed: () => false }),
      read(REMEDY_OPERATION_JOBS, { keys: onlyKey, changed: () => false }),
    ],
    writes: ['DefenderPolicy.status', 'DefenderLedger.status', 'FleetAllowance.status'],
    fieldManager: MANAGER_DEFENDER,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_DEFENDER },
    concurrency: 1,
    reconcile: (_, context) => reconcile(sweeper, context),
  };
}

function onlyKey(): readonly string[] {
  return [KEY];
}

async function reconcile(sweeper: Sweeper, context: ReconcileContext): Promise<ReconcileResult> {
  sweeper.alerts?.refresh(context.view<DefenderPolicy>(DEFENDER_POLICIES).list());
  const failure = await sweep(sweeper, context).then(() => undefined, asError);
  await recordActs(sweeper, context);
  const ledger = context.view(DEFENDER_LEDGERS).get(LEDGER);
  const suspects = ledger ? suspectsOf(sweeper, ledger, context) : [];
  report(sweeper, context, { ledger, suspects, failure });
  if (failure) throw failure;
  return { requeueAt: new Date(+context.clock.now() + SWEEP_MS) };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Repairs go on without a record: the lines are kept, and tried again with the next sweep. */
async function recordActs(sweeper: Sweeper, { log }: ReconcileContext): Promise<void> {
  const { recorder } = sweeper;
  const error = await recorder?.flush().then(() => undefined, asError);
  if (error && error.message !== sweeper.unrecorded) {
    log.warn('acts not recorded for audit', { error, dropped: recorder?.dropped });
  }
  sweeper.unrecorded = error?.message;
}

/** Sends deletions, the sweep and the review of breakers as one batch, so that there is one write, or none when nothing changed. */
async function sweep({ observer, ledger }: Sweeper, context: ReconcileContext): Promise<void> {
  const recording = [...observer.deleted()].map(async ([machine, entry]) => {
    await ledger.recordDeleted(machine, entry);
    observer.recorded(machine);
  });
  // A deletion that finds no room is recorded later, and holds up nothing else.
  const [recorded] = await Promise.all([
    Promise.allSettled(recording),
    ledger.sweep(),
    ledger.reviewBreakers(),
  ]);
  await settleSuspects({ observer, ledger }, context);
  const failed = recorded.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function settleSuspects(
  { observer, ledger }: Pick<Sweeper, 'observer' | 'ledger'>,
  context: ReconcileContext,
): Promise<void> {
  const found = context.view(DEFENDER_LEDGERS).get(LEDGER);
  if (!found) return;
  const plans = suspectsOf({ observer }, found, context);
  const settlements = plans.flatMap(({ settlement }) => settlement ?? []);
  if (settlements.length === 0) return;
  for (const { machine, because, settlement } of plans) {
    if (settlement) context.log.info('grant settled', { machine, because, grant: settlement.id });
  }
  await ledger.settle(settlements);
}

function suspectsOf(
  { observer }: Pick<Sweeper, 'observer'>,
  { spec }: DefenderLedger,
  { clock }: ReconcileContext,
): readonly SuspectPlan[] {
  const facts = observer.facts();
  return planExpiry({
    ledger: spec,
    holder: (machine, holder) => observer.holder(machine, holder),
    machine: (name) => facts.machine(name),
    now: clock.now(),
  });
}

interface SweepResult {
  readonly ledger: DefenderLedger | undefined;
  readonly suspects: readonly SuspectPlan[];
  readonly failure: Error | undefined;
}

function report(sweeper: Sweeper, context: ReconcileContext, result: SweepResult): void {
  const { observer, denials, alerts } = sweeper;
  const { ledger } = result;
  const now = context.clock.now();
  const shared = {
    policies: observer.policies(),
    facts: observer.facts(),
    ledger: ledger?.spec,
    now,
    alertOf: (query: string) => alerts?.result(query),
  };
  for (const policy of context.view(DEFENDER_POLICIES).list()) {
    const { name } = policy.metadata;
    const status = policyStatus({ ...shared, policy, denials: denials.of(name) });
    const { status: fitting } = truncateToSchema({ ...policy, status });
    context.reportStatus(DEFENDER_POLICIES, { metadata: { name }, status: fitting });
  }
  if (!ledger) return;
  reportAllowance(sweeper, context, ledger);
  reportLedger(sweeper, context, { ...result, ledger });
  recordChanges(sweeper, context, ledger);
  recordAlerts(sweeper, context, { ...result, ledger });
}

function reportAllowance(
  { requests, observer, hasRollouts = false }: Sweeper,
  context: ReconcileContext,
  { spec }: DefenderLedger,
): void {
  const allowance = requests && context.view(FLEET_ALLOWANCES).get(FLEET_ALLOWANCE);
  if (!requests || !allowance) return;
  const now = context.clock.now();
  const failed = failureReport({
    ledger: spec,
    policies: observer.policies(),
    sets: hasRollouts ? context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS).list() : [],
    jobs: context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).list(),
    now,
  });
  const status = allowanceStatus({
    allowance,
    ledger: spec,
    request: (limit) => requests.of(limit),
    failed,
    now,
  });
  const { status: fitting } = truncateToSchema({ ...allowance, status });
  context.reportStatus(FLEET_ALLOWANCES, { metadata: { name: FLEET_ALLOWANCE }, status: fitting });
}

type LedgerResult = SweepResult & { readonly ledger: DefenderLedger };

function reportLedger(
  { ledger: { conflicts }, pending, observer, recorder }: Sweeper,
  context: ReconcileContext,
  { ledger, suspects, failure }: LedgerResult,
): void {
  const now = context.clock.now();
  const approvals = pending.list(ledger.spec.approvals);
  const isKnown = observer.facts().view.ageSeconds !== undefined;
  const machines = isKnown ? countMachines(context.view(MACHINES).list()) : undefined;
  const held = heldRules(ledger.spec, { policies: observer.policies(), facts: observer.facts(), now });
  const recording = recorder && { dropped: recorder.dropped, ...optional('problem', recorder.problem) };
  const counted = { ledger, suspects, approvals, conflicts, machines, held };
  const status = ledgerStatus({
    ...counted,
    ...optional('recording', recording),
    failure: failure?.message,
    now,
  });
  const { status: fitting } = truncateToSchema({ ...ledger, status });
  const delayMs = ledgerReportDelayMs(ledger.status, fitting);
  context.reportStatus(DEFENDER_LEDGERS, { metadata: { name: LEDGER }, status: fitting }, { delayMs });
}

/** Records Events for changes of the ledger. After a restart the first state is the base: what happened before is in the status. */
function recordChanges(sweeper: Sweeper, context: ReconcileContext, ledger: DefenderLedger): void {
  const before = sweeper.reported ?? ledger.spec;
  sweeper.reported = ledger.spec;
  for (const { policy, event } of ledgerChanges(before, ledger.spec)) {
    const about = policy === undefined ? ledger : context.view(DEFENDER_POLICIES).get(policy);
    context.event(about ?? ledger, event);
  }
}

function recordAlerts(
  { alerted }: Sweeper,
  context: ReconcileContext,
  { ledger, suspects }: LedgerResult,
): void {
  for (const { machine, because, isAlert } of suspects) {
    const id = ledger.spec.grants[machine]?.id ?? machine;
    if (!isAlert || alerted.has(id)) continue;
    alerted.add(id);
    const reason = `${EVENT_PREFIX[MANAGER_DEFENDER]}GrantSuspect`;
    const note = `grant ${id} of machine ${machine} is past its end: ${because}`;
    context.event(context.view(MACHINES).get(machine) ?? ledger, {
      type: 'Warning',
      reason,
      action: 'Settle',
      note,
    });
  }
}
