/**
 * Repairs by the rules of NodeRemediers, as kubenode-remedy. Two kinds of keys: a machine is evaluated and gets at most one
 * job; a rule gets its status.
 */
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
import {
  ANNOTATION_COMMIT,
  ANNOTATION_HOLD,
  ANNOTATION_OWNER_HOLD,
  FINALIZER_SETTLE,
  MANAGER_REMEDY,
  NAMESPACE,
  PRINCIPAL_REMEDY,
} from '../../../api/names.ts';
import { type Controller, type ReconcileResult, read } from '../../../kube/controller/controller.ts';
import { partChanged } from '../../../kube/controller/predicates.ts';
import type { ReadableStore, ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { createCheckedRules } from '../checked-rules.ts';
import { createTurnOrder } from '../execute/order.ts';
import { createShadowTally } from '../shadow.ts';
import { machineKey, parseKey, type RemedyState, ruleKey } from '../state.ts';
import { reconcileMachine } from './machine.ts';
import { reconcileRule } from './rule.ts';

export type RemedyControllerOptions = Pick<RemedyState, 'facts' | 'grants' | 'metrics'>;

export function createRemedyController({ facts, grants, metrics }: RemedyControllerOptions): Controller {
  let machines: ReadableStore<Machine> | undefined;
  let add: ((key: string) => void) | undefined;
  const state: RemedyState = {
    facts,
    grants,
    checkedRules: createCheckedRules(),
    findings: new Map(),
    tally: createShadowTally(),
    turns: createTurnOrder(),
    ...optional('metrics', metrics),
    machineChanged: (machine) => add?.(machineKey(machine)),
    ruleChanged: (rule) => add?.(ruleKey(rule)),
  };
  return {
    name: 'remedy',
    reads: [
      read(NODE_REMEDIERS, {
        keys: ({ metadata }) => [ruleKey(metadata.name), ...everyMachine()],
        changed: ruleChanged,
      }),
      read(MACHINES, { keys: ({ metadata }) => [machineKey(metadata.name)], changed: machineChanged }),
      read(NODES, { keys: ({ metadata }) => [machineKey(metadata.name)], changed: nodeChanged }),
      read<DefenderLedger>(DEFENDER_LEDGERS, {
        keys: ({ spec }) => Object.keys(spec.rules ?? {}).map(ruleKey),
        changed: partChanged(({ spec }) => [spec.rules, spec.ruleTerms?.inForce]),
      }),
      read(REMEDY_OPERATION_JOBS, {
        keys: ({ spec }) => [machineKey(spec.machine.name), ruleKey(spec.cause.remedier)],
        changed: jobChanged,
      }),
    ],
    triggers: (trigger) => {
      add = trigger;
      return facts.onChange((change) => {
        if (state.checkedRules.affects(change)) trigger(machineKey(change.machine));
      });
    },
    writes: [
      'NodeRemedier.status',
      'Machine.status.faults',
      'Machine.status.remedyWaits',
      'RemedyOperationJob.metadata.labels',
      'RemedyOperationJob.spec',
    ],
    // With the controller of jobs, which removes it.
    shares: [`RemedyOperationJob.metadata.finalizers[${FINALIZER_SETTLE}]`],
    creates: ['RemedyOperationJob'],
    deletes: ['RemedyOperationJob'],
    fieldManager: MANAGER_REMEDY,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_REMEDY },
    reconcile,
  };

  /** Returns the keys of all machines. Before the first reconcile there are none: the initial list names them all. */
  function everyMachine(): readonly string[] {
    return (machines?.list() ?? []).map(({ metadata }) => machineKey(metadata.name));
  }

  function reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult> {
    machines = context.view<Machine>(MACHINES);
    const { rule, machine = '' } = parseKey(key);
    return rule === undefined
      ? reconcileMachine(machine, state, context)
      : reconcileRule(rule, state, context);
  }
}

const ruleChanged = partChanged<NodeRemedier>(({ metadata, spec }) => [
  spec,
  metadata.annotations?.[ANNOTATION_COMMIT],
]);

/** Tells whether a Machine changed. The report of its agent is not compared, because it comes as facts. */
const machineChanged = partChanged<Machine>(({ metadata, spec, status }) => [
  metadata.labels,
  metadata.annotations?.[ANNOTATION_HOLD],
  metadata.annotations?.[ANNOTATION_OWNER_HOLD],
  metadata.deletionTimestamp,
  spec.hold,
  spec.node.labels,
  conditionStatus(status?.conditions, 'NeedsPerson'),
]);

const nodeChanged = partChanged((node) => [
  node.metadata.uid,
  node.metadata.labels,
  node.metadata.annotations?.[ANNOTATION_HOLD],
  textAt(node, 'status', 'nodeInfo', 'bootID'),
]);

const jobChanged = partChanged<RemedyOperationJob>(({ metadata, status }) => [
  metadata.finalizers,
  metadata.deletionTimestamp,
  status?.outcome,
]);
