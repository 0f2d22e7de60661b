/** An event recorder over a simulated API server, with a virtual clock and metrics. */
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import {
  createEventRecorder,
  type EventRecorder,
  type EventRecorderOptions,
  type Occurrence,
} from '../../../src/kube/events/recorder.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../src/kube/process/metrics-runtime.ts';
import { memoryLog } from '../memory-log.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { createObjectServer, type ObjectServer } from './object-server.ts';

export const machine = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Machine',
  metadata: { name: 'm-1', uid: 'u-1' },
};
export const rebooted: Occurrence = {
  about: machine,
  type: 'Normal',
  reason: 'Rebooted',
  action: 'Reboot',
  note: 'it was hung',
};

export interface RecorderBed {
  readonly clock: VirtualClock;
  readonly server: ObjectServer;
  readonly events: EventRecorder;
  /** Every call of the client, by verb. */
  readonly calls: string[];
  /** Errors of the next calls. */
  readonly faults: KubeError[];
  readonly all: () => readonly KubeObject[];
  readonly metric: (name: string) => Promise<Record<string, number>>;
  readonly createRecorder: (change?: Partial<EventRecorderOptions>) => EventRecorder;
}

export function createRecorderBed(): RecorderBed {
  const clock = virtualClock();
  const server = createObjectServer();
  const calls: string[] = [];
  const faults: KubeError[] = [];
  const metrics = createMetrics();
  const runtime = createRuntimeMetrics(metrics).events;
  const client = Object.fromEntries(
    (['get', 'create', 'patch'] as const).map((verb) => [
      verb,
      (...args: unknown[]): Promise<unknown> => {
        calls.push(verb);
        const fault = faults.shift();
        return fault
          ? Promise.reject(fault)
          : (server[verb] as (...all: unknown[]) => Promise<unknown>)(...args);
      },
    ]),
  );
  const createRecorder: RecorderBed['createRecorder'] = (change) =>
    createEventRecorder({
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic port
      client: client as unknown as EventRecorderOptions['client'],
      clock,
      random: () => 0,
      log: memoryLog(),
      metrics: runtime,
      controller: 'kubenode.dev/machine',
      instance: 'pod-1',
      ...change,
    });
  return {
    clock,
    server,
    events: createRecorder(),
    calls,
    faults,
    createRecorder,
    all: () => server.all(EVENTS),
    metric: async (name) => {
      const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(`kubenode_${name}`));
      return Object.fromEntries(
        lines.map((line) => [/because="([^"]*)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
      );
    },
  };
}

export const failing = (code: KubeErrorCode, times: number): KubeError[] =>
  Array.from({ length: times }, () => new KubeError(code, 'no'));
