/**
 * Exports the traces of repairs and rollouts that have ended. They are read from the objects, so that a process that is killed loses none and no
 * other part of kubenode knows of them. It is apart from what carries repairs and rollouts out: no collector delays either.
 */
import { MACHINE_COMPONENT_SETS, REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import type { MachineComponentSet, RemedyOperationJob } from '../../api/generated/types.ts';
import { MANAGER_TRACER } from '../../api/names.ts';
import { type Controller, read } from '../../kube/controller/controller.ts';
import { partChanged } from '../../kube/controller/predicates.ts';
import type { TraceExporter } from '../../observability/trace/otlp/exporter.ts';
import { exportTraces } from './execute.ts';
import { endedTraces, keyOfSet, rolloutMoments } from './observe.ts';

/** A collector that hangs holds each request for ten seconds, and then is left alone. */
const CONCURRENCY = 2;

export function createTracerController(exporter: TraceExporter): Controller {
  return {
    name: 'tracer',
    reads: [
      read<RemedyOperationJob>(REMEDY_OPERATION_JOBS, {
        changed: partChanged(({ status }) => status?.timeline?.settledAt),
      }),
      read<MachineComponentSet>(MACHINE_COMPONENT_SETS, {
        keys: ({ metadata }) => [keyOfSet(metadata.name)],
        changed: partChanged(rolloutMoments),
      }),
    ],
    writes: [],
    fieldManager: MANAGER_TRACER,
    concurrency: CONCURRENCY,
    reconcile: async (key, context) => await exportTraces(endedTraces(key, context), exporter, context),
  };
}
