/** Builds the rows of one cluster in the console, in the words of the commands about machines, rollouts and repairs. Pure. */
import { poolOf } from '../../api/diagnosis/dimensions.ts';
import type {
  DefenderLedger,
  DefenderPolicy,
  Machine,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { optional } from '../../kube/objects/optional.ts';
import { unblockHint } from '../../views/fleet/unblock.ts';
import { machineRow } from '../../views/machine/list.ts';
import { machineTrouble } from '../../views/machine/trouble.ts';
import { type JobView, viewJob } from '../../views/repair/job.ts';
import { sortJobs } from '../../views/repair/list.ts';
import { revisionRows } from '../../views/rollout/history.ts';
import { batchPlace } from '../../views/rollout/show.ts';
import {
  type BatchView,
  type MachineInWork,
  type RolloutView,
  type VersionChange,
  viewRollout,
} from '../../views/rollout/view.ts';
import { closedSetNotes } from '../../views/status/closed-times.ts';
import type {
  GrantLine,
  LimitLine,
  MachineTile,
  RepairCard,
  RolloutCard,
  RowsByKey,
  TileCordon,
} from '../state/state.ts';

/** The most repairs that are shown: the open ones, then the newest of the others. */
const MAX_REPAIRS = 50;
const MAX_IN_WORK = 20;

export function machineTile(machine: Machine): MachineTile {
  const { phase, zone, since, runs } = machineRow(machine);
  const trouble = machineTrouble(machine);
  const why = trouble && {
    reason: trouble.reason,
    because: trouble.message ?? trouble.reason,
    unblock: unblockHint({ blocker: { kind: 'Machine', name: machine.metadata.name }, ...trouble }),
  };
  return {
    p: phase,
    ...optional('z', zone),
    ...optional('l', poolOf(machine.metadata.labels ?? {})),
    ...optional('s', secondsOf(since)),
    ...optional('v', runs.length > 0 ? runs.join(', ') : undefined),
    ...optional('c', tileCordon(machine)),
    ...optional('why', why),
  };
}

/** Returns the cordon as the controller of the machine reports it. Nodes themselves are not read: viewers may not. */
function tileCordon({ status }: Machine): TileCordon | undefined {
  const { cordon } = status?.node ?? {};
  return cordon && { ...optional('g', cordon.grant), ...optional('s', secondsOf(cordon.since)) };
}

function secondsOf(since: string | undefined): number | undefined {
  const ms = Date.parse(since ?? '');
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

export function rolloutCard(
  cluster: string,
  set: MachineComponentSet,
  inWork: readonly MachineInWork[],
  now: Date,
): RolloutCard {
  const view: RolloutView = viewRollout(set, inWork);
  const closed = closedSetNotes(view.closedTimes, now).join('; ');
  const { outcome, counts, batch, since } = view;
  const revisions = revisionRows(set);
  return {
    cluster,
    set: view.set,
    phase: view.phase,
    state: outcome.state,
    ...optional('isBehind', outcome.isBehind),
    because: outcome.because,
    changes: view.changes.map(changeText),
    ...optional('batch', batch && batchOf(batch)),
    selected: counts.selected,
    updated: counts.updated,
    failed: counts.failed,
    ...optional('since', since),
    unblock: view.unblock,
    ...optional('closed', closed === '' ? undefined : closed),
    inWork: view.inWork
      .slice(0, MAX_IN_WORK)
      .map(({ name, state, because }) => ({ machine: name, state, because })),
    ...optional('revisions', revisions.length > 0 ? revisions : undefined),
  };
}

function batchOf(batch: BatchView): RolloutCard['batch'] {
  const { size, updated, failed, soakUntil } = batch;
  return { place: batchPlace(batch), size, updated, failed, ...optional('soakUntil', soakUntil) };
}

function changeText({ component, from, to }: VersionChange): string {
  if (to === undefined) return `${component} is removed`;
  return from === undefined ? to : `${from} to ${to}`;
}

export function repairCards(cluster: string, jobs: readonly RemedyOperationJob[]): RowsByKey<RepairCard> {
  const shown = sortJobs(jobs.map(viewJob)).slice(0, MAX_REPAIRS);
  return Object.fromEntries(shown.map((view) => [`${cluster}/${view.job}`, repairCard(cluster, view)]));
}

function repairCard(cluster: string, view: JobView): RepairCard {
  const { job, machine, rule, rung, attempt, phase, state, created, evidence, outcome, waiting } = view;
  const why = waiting && {
    reason: waiting.reason,
    because: waiting.message ?? waiting.reason,
    unblock: view.unblock,
  };
  return {
    cluster,
    job,
    machine,
    rule,
    rung,
    attempt,
    phase,
    state,
    evidence,
    ...optional('created', created),
    timeline: view.timeline,
    steps: view.steps.map(({ step, state: result, because }) => ({ step, state: result, because })),
    ...optional('why', why),
    ...optional('outcome', outcome),
  };
}

export function limitLines(cluster: string, policies: readonly DefenderPolicy[]): RowsByKey<LimitLine> {
  const lines = policies.flatMap(({ metadata: { name: policy }, status }) =>
    (status?.usage ?? []).map(({ rule = '', key = '', used = 0, limit = 0 }) => ({
      cluster,
      policy,
      rule,
      counts: key,
      used,
      limit,
    })),
  );
  return Object.fromEntries(
    lines.map((line) => [[cluster, line.policy, line.rule, line.counts].join('/'), line]),
  );
}

/** Returns a line for each grant of an act that is not settled. */
export function grantLines(cluster: string, ledger: DefenderLedger | undefined): RowsByKey<GrantLine> {
  const grants = Object.entries(ledger?.spec.grants ?? {}).filter(([, grant]) => isInFlight(grant));
  return Object.fromEntries(
    grants.map(([machine, { id, action, state, holder, issuedAt }]) => [
      `${cluster}/${machine}`,
      { cluster, machine, id, action, state, holder: `${holder.kind} ${holder.name}`, since: issuedAt },
    ]),
  );
}
