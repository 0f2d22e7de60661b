/** Writes Events about the own Node, as node-problem-detector does: with the source of the monitor. */
import {
  createEventRecorder,
  type EventRecorder,
  type EventRecorderOptions,
} from '../../../kube/events/recorder.ts';
import type { DetectedEvent } from '../match/condition.ts';

export interface NodeEvents {
  /** Never waits and never fails. */
  record(source: string, events: readonly DetectedEvent[]): void;
  close(signal: AbortSignal): Promise<void>;
}

export type NodeEventsOptions = Omit<EventRecorderOptions, 'controller' | 'instance'> & {
  readonly node: string;
};

export function createNodeEvents({ node, ...options }: NodeEventsOptions): NodeEvents {
  const recorders = new Map<string, EventRecorder>();
  // The kubelet and node-problem-detector use the name as the uid, too, and so do those who look for such Events.
  const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: node, uid: node } };

  function recorderOf(source: string): EventRecorder {
    const known = recorders.get(source);
    if (known) return known;
    const recorder = createEventRecorder({ ...options, controller: source, instance: node });
    recorders.set(source, recorder);
    return recorder;
  }

  return {
    record(source, events) {
      const recorder = recorderOf(source);
      for (const { type, reason, message } of events) {
        recorder.record({ about, type, reason, action: 'Detect', note: message });
      }
    },
    async close(signal) {
      await Promise.all([...recorders.values()].map((recorder) => recorder.close(signal)));
    },
  };
}
