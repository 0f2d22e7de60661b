/**
 * The machines with a fault of one class among those that share a property with this one, such as the version of a driver. Many of them
 * have a common cause, which a repair of single machines does not end. It counts all nodes, so it does not tell what this one has.
 */
import { FAULT_CLASSES } from '../../api/enums.ts';
import type { FactKind } from './fact.ts';
import { COUNT_FIELD, createFields, createParams, type FactParams, RATIO_FIELD } from './field.ts';
import { type AffectedQuery, SCOPES, worstShare } from './reading/affected.ts';
import { knownAnswer, type ReadFact, tooOldReason, unknownAnswer } from './reading/answer.ts';
import { isChanged } from './reading/changed.ts';
import type { NodeSnapshot } from './reading/snapshot.ts';

/** Jobs are kept at least as long as the longest window that a rule reads. */
const WEEK = 604_800;
/** Other machines change without a change of this one. Only one that is affected is read again, so that a healthy fleet costs nothing. */
const AGAIN_MS = 30_000;
const VIEWS = ['machines', 'nodes', 'jobs'] as const;

const fields = createFields({ affectedRatio: RATIO_FIELD, affectedCount: COUNT_FIELD });

const read: ReadFact = (snapshot, params, maxAgeMs) => {
  const problem = viewProblem(snapshot, maxAgeMs);
  if (problem !== undefined) return unknownAnswer(problem);
  const { scope } = params;
  const share = worstShare(snapshot.affected(queryOf(params)));
  if (!share) return unknownAnswer(`the machine has no known ${String(scope)}`);
  const { remedyWaits = [] } = snapshot.machine?.status ?? {};
  const isSuspect = remedyWaits.length > 0 || snapshot.objects.jobs.length > 0;
  return knownAnswer(fields, { ...share }, isSuspect ? AGAIN_MS : Infinity);
};

function viewProblem(
  { problems, viewAgeMs, fleetProblem }: NodeSnapshot,
  maxAgeMs: number,
): string | undefined {
  const reasons = VIEWS.map(
    (view) => problems[view] ?? tooOldReason(`the view of ${view}`, viewAgeMs(view), maxAgeMs),
  );
  return fleetProblem ?? reasons.find((reason) => reason !== undefined);
}

/** The compiler has checked the parameters. */
function queryOf({ scope, faultClass, windowSeconds }: FactParams): AffectedQuery {
  return {
    scope: SCOPES.find((each) => each === scope) ?? 'cluster',
    faultClass: FAULT_CLASSES.find((each) => each === faultClass) ?? 'Other',
    windowSeconds: Number(windowSeconds),
  };
}

export const fleetFact = {
  name: 'fleet',
  source: 'status.remedyWaits of all Machines, and RemedyOperationJobs',
  maxAge: { seconds: 120 },
  heartbeats: [],
  params: createParams({
    scope: { type: 'choice', values: SCOPES },
    faultClass: { type: 'choice', values: FAULT_CLASSES },
    windowSeconds: { type: 'seconds', max: WEEK },
  }),
  fields,
  read,
  changes: {
    machines: (before, after) => isChanged(before, after, 'status', 'remedyWaits'),
    jobs: () => true,
  },
  onlyInGate: 'it tells nothing about this node',
  readsFleet: VIEWS,
  recorded: {
    nodes: {
      status: {
        nodeInfo: {
          kernelVersion: true,
          osImage: true,
          kubeletVersion: true,
          containerRuntimeVersion: true,
        },
      },
    },
    machines: {
      spec: { zone: true, node: { labels: true }, components: { componentRef: true, state: true } },
      status: {
        system: { gpuDriver: true, hardwareClass: true },
        agent: { version: true },
        facts: { detectorConfig: true },
        remedyWaits: { rule: true, faultClass: true },
      },
    },
    jobs: {
      spec: { machine: true, cause: { faultClass: true }, grant: { issuedAt: true } },
      status: { outcome: { class: true } },
    },
  },
} satisfies FactKind;
