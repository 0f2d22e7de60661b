/** Creates the context of one reconcile: the parts that its controller has in this term, bound to its signal and its stop. */
import type { Clock } from '../../os/clock.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import type { ReconcileContext } from './reconcile-context.ts';
import type { ControllerViews } from './views.ts';
import type { JsonPatchOperation } from './writes/declared-fields.ts';
import { planAddFinalizer, planRemoveFinalizer } from './writes/finalizers.ts';
import type { StatusReports } from './writes/status-reports.ts';
import type { Writer, WriterCall } from './writes/writer.ts';

/** Holds what all reconciles of a controller in a term share. */
export interface ContextParts {
  readonly views: ControllerViews;
  readonly writer: Writer;
  readonly reports: StatusReports;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly epoch: number | undefined;
}

/** The one reconcile for which a context is created. */
export interface ContextScope extends WriterCall {
  readonly key: string;
}

export function createContext(parts: ContextParts, scope: ContextScope): ReconcileContext {
  const { views, writer, reports, recorder, clock, epoch } = parts;
  const { key } = scope;

  return {
    epoch,
    clock,
    // Most reconciles use neither of these: they are made when asked for.
    get signal() {
      return scope.signal;
    },
    get log() {
      return parts.log.with({ key });
    },
    view: (resource) => views.storeOf(resource),
    ageMs: (resource, object, part) => views.ageMs(resource, object, part),
    apply: (resource, intent) => writer.apply(resource, intent, scope),
    applyStatus: async (resource, intent) => {
      await reports.supersede(resource, intent);
      return writer.applyStatus(resource, intent, scope);
    },
    reportStatus: (resource, intent, options) => {
      scope.beforeSend();
      writer.checkStatus(resource, intent);
      reports.report(resource, intent, { key, ...options });
    },
    patch: (resource, object, operations) => writer.patch(resource, object, operations, scope),
    create: (resource, object) => writer.create(resource, object, scope),
    delete: (resource, object, options = {}) =>
      writer.delete(resource, object, { ...options, ...callOf(scope) }),
    evict: (pod, options = {}) => writer.evict(pod, { ...options, ...callOf(scope) }),
    addFinalizer: (resource, object, finalizer) =>
      patched(resource, object, planAddFinalizer(object, finalizer)),
    removeFinalizer: (resource, object, finalizer) =>
      patched(resource, object, planRemoveFinalizer(object, finalizer)),
    event: (about, event) => recorder.record({ about, ...event }),
  };

  async function patched<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    operations: readonly JsonPatchOperation[] | undefined,
  ): Promise<T> {
    return operations ? writer.patch(resource, object, operations, scope) : object;
  }
}

function callOf({ signal, beforeSend }: ContextScope): WriterCall {
  return { signal, beforeSend };
}
