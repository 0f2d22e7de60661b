/** Reconciles one rule: its status, and the jobs that it does not need any more. */
import {
  DEFENDER_LEDGERS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../api/generated/resources.ts';
import type {
  DefenderLedger,
  Machine,
  NodeRemedier,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import { isEstablished } from '../../../api/machine/node-state.ts';
import { LEDGER } from '../../../api/names.ts';
import { truncateToSchema } from '../../../api/validation/truncate-to-schema.ts';
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { firstMoment, secondsAfter } from '../../../os/dates.ts';
import { DEFAULT_RETENTION, longestHistory, planRetention, type Retention } from '../case/retention.ts';
import type { CheckedRules } from '../checked-rules.ts';
import { findingsOf } from '../findings.ts';
import { boundOf, targetsOf } from '../observe/observe.ts';
import type { RemedyState } from '../state.ts';
import { remedierStatus } from '../status.ts';
import { proofOf, versionToAnnounce } from '../waves/report.ts';

/** How long until changes elsewhere are observed, such as the number of targets. */
const RECHECK_SECONDS = 60;

export async function reconcileRule(
  name: string,
  state: RemedyState,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const remedier = context.view<NodeRemedier>(NODE_REMEDIERS).get(name);
  const jobs = context
    .view<RemedyOperationJob>(REMEDY_OPERATION_JOBS)
    .list()
    .filter(({ spec }) => spec.cause.remedier === name);
  if (remedier) await report(remedier, jobs, { state, context });
  const nextAt = await deleteExpired(jobs, await retentionOf(remedier, state.checkedRules, context), context);
  const recheck = remedier ? secondsAfter(context.clock.now(), RECHECK_SECONDS) : undefined;
  const requeueAt = firstMoment([nextAt, recheck]);
  return requeueAt ? { requeueAt } : {};
}

async function report(
  remedier: NodeRemedier,
  jobs: readonly RemedyOperationJob[],
  { state, context }: { readonly state: RemedyState; readonly context: ReconcileContext },
): Promise<void> {
  const { name } = remedier.metadata;
  const { problems, digest } = await state.checkedRules.check(remedier);
  const { shadow: recorded, ruleDigest } = remedier.status ?? {};
  const { wouldAct = 0, wouldDeny = 0 } = (ruleDigest === digest ? recorded : undefined) ?? {};
  const ledger = context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER);
  const now = context.clock.now();
  if (problems.length === 0) await announce(remedier, ledger, { state, context });
  const proof = proofOf({ remedier, ledger, machines: () => countEstablished(context), now });
  const status = remedierStatus({
    remedier,
    problems,
    findings: findingsOf(state.findings, name),
    bound: boundOf(remedier, state.findings, context),
    targets: targetsOf(remedier, context),
    jobs,
    proof,
    shadow: state.tally.counts({ name, digest }, { wouldAct, wouldDeny }),
    now,
  });
  const { status: fitting } = truncateToSchema({ ...remedier, status });
  context.reportStatus(NODE_REMEDIERS, { metadata: { name }, status: fitting });
}

/** As soon as the rule is there: its first ask may come much later, under looser terms. The status is reported after a failure, too. */
async function announce(
  remedier: NodeRemedier,
  ledger: DefenderLedger | undefined,
  { state: { grants }, context }: { readonly state: RemedyState; readonly context: ReconcileContext },
): Promise<void> {
  const version = versionToAnnounce(remedier, ledger, context.clock.now());
  if (!version) return;
  await grants.announceRules?.([version]).catch((error: unknown) => {
    context.log.warn('version of a rule not recorded', { rule: version.rule, error });
  });
}

function countEstablished(context: ReconcileContext): number {
  const nodes = context.view(NODES);
  const machines = context.view<Machine>(MACHINES).list();
  return machines.filter((machine) => isEstablished(machine, nodes.get(machine.metadata.name))).length;
}

async function retentionOf(
  remedier: NodeRemedier | undefined,
  checkedRules: CheckedRules,
  context: ReconcileContext,
): Promise<Retention> {
  const rules = await Promise.all(
    context
      .view<NodeRemedier>(NODE_REMEDIERS)
      .list()
      .map((rule) => checkedRules.check(rule)),
  );
  const reads = rules.flatMap(({ accepted }) => accepted?.compiled.reads ?? []);
  return { ...(remedier?.spec.job ?? DEFAULT_RETENTION), historySeconds: longestHistory(reads) };
}

/** Deletes expired jobs. Resolves with the time when the next one expires. */
async function deleteExpired(
  jobs: readonly RemedyOperationJob[],
  retention: Retention,
  context: ReconcileContext,
): Promise<Date | undefined> {
  const { expired, nextAt } = planRetention(jobs, retention, context.clock.now());
  for (const job of expired) {
    // oxlint-disable-next-line no-await-in-loop -- few, and never urgent
    await context.delete(REMEDY_OPERATION_JOBS, job, { unchanged: true });
  }
  return nextAt;
}
