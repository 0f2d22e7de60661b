/** Writes Events about the own Machine. They are limited and combined: no machine can flood the API server. */
import { createEventRecorder, type EventRecorderOptions } from '../../kube/events/recorder.ts';
import type { MachineEvent } from './machine-events.ts';

export interface MachineEvents {
  /** Never waits and never fails. */
  record(machine: { readonly name: string; readonly uid: string }, events: readonly MachineEvent[]): void;
  /** Writes what waits, for at most two seconds. */
  close(): Promise<void>;
}

export type MachineEventsOptions = Pick<
  EventRecorderOptions,
  'client' | 'clock' | 'random' | 'log' | 'metrics' | 'instance'
>;

/** Reports the Events of the agent. */
export const AGENT_CONTROLLER = 'kubenode.dev/agent';
const CLOSE_MS = 2000;

export function createMachineEvents(options: MachineEventsOptions): MachineEvents {
  const recorder = createEventRecorder({ ...options, controller: AGENT_CONTROLLER });
  return {
    record({ name, uid }, events) {
      const about = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name, uid } };
      for (const event of events) recorder.record({ about, ...event });
    },
    async close() {
      const abort = new AbortController();
      const closing = recorder.close(abort.signal);
      const late = options.clock.sleep(CLOSE_MS, abort.signal).catch(() => undefined);
      await Promise.race([closing, late]);
      abort.abort();
      await closing;
    },
  };
}
