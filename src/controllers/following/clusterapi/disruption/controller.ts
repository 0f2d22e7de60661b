/**
 * Shows Cluster API on its Machines that kubenode acts on them or that a person holds them, so that both drain one after the other. Every choice is
 * made in plan.ts.
 */
import { DEFENDER_LEDGERS, MACHINES } from '../../../../api/generated/resources.ts';
import type { DefenderLedger, Machine } from '../../../../api/generated/types.ts';
import {
  ANNOTATION_HOLD,
  LEDGER,
  MANAGER_CLUSTERAPI_DISRUPTION,
  NAMESPACE,
  PRINCIPAL_CLUSTERAPI,
} from '../../../../api/names.ts';
import { type Controller, type ReconcileResult, read } from '../../../../kube/controller/controller.ts';
import { partChanged } from '../../../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { isUnreadable } from '../../owner.ts';
import type { ForeignSource } from '../observe/foreign-source.ts';
import type { ForeignObjects } from '../owner.ts';
import { carryOutDisruption, type DisruptionParts } from './execute.ts';
import { planDisruption } from './plan.ts';

export interface DisruptionControllerOptions {
  readonly source: Pick<ForeignSource, 'open' | 'read'>;
  readonly client: DisruptionParts['client'];
}

const KEY = 'all';
/** A batch of a rollout gets its grants one after the other. */
const GATHER_MS = 250;

export function createDisruptionController({ source, client }: DisruptionControllerOptions): Controller {
  const all = { keys: () => [KEY], gatherMs: GATHER_MS } as const;
  return {
    name: 'disruption',
    reads: [
      read(MACHINES, { ...all, changed: machineChanged }),
      read(NODES, {
        ...all,
        changed: partChanged(({ metadata }) => [metadata.annotations?.[ANNOTATION_HOLD]]),
      }),
      read(DEFENDER_LEDGERS, { ...all, changed: partChanged<DefenderLedger>(({ spec }) => [spec.grants]) }),
    ],
    triggers: (add) => source.open(() => add(KEY)),
    writes: [],
    fieldManager: MANAGER_CLUSTERAPI_DISRUPTION,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_CLUSTERAPI },
    concurrency: 1,
    reconcile: async (_, context) => {
      const found = source.read();
      // While theirs cannot be read, what they were shown stays.
      if (found === undefined || isUnreadable(found)) return {};
      return await reconcile(found, client, context);
    },
  };
}

const machineChanged = partChanged<Machine>(({ metadata, spec }) =>
  spec.infra.provider === 'clusterapi'
    ? [metadata.annotations?.[ANNOTATION_HOLD], spec.hold, spec.infra.config]
    : [],
);

async function reconcile(
  { machines: theirs }: ForeignObjects,
  client: DisruptionParts['client'],
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const nodes = context.view(NODES);
  const plan = planDisruption({
    theirs,
    machines: context.view<Machine>(MACHINES).list(),
    nodeOf: (name) => nodes.get(name),
    grants: context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER)?.spec.grants ?? {},
    now: context.clock.now(),
  });
  await carryOutDisruption(plan.writes, { client, context });
  return optional('requeueAt', plan.changesAt);
}
