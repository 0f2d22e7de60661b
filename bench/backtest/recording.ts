/** A recording as a large fleet makes it: heartbeats of kubelets and of problem detectors, changes of disks, and some hung kernels. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { RECORDING_FORMAT, RECORDING_VERSION, type RecordedLine } from '../../src/rules/recording/format.ts';
import { machine, node } from '../../test/support/builders.ts';

export interface RecordedFleet {
  readonly machines: number;
  readonly hours: number;
}

export interface WrittenRecording {
  readonly lines: number;
  readonly bytes: number;
  /** Machines that were ill at any time. */
  readonly ill: number;
}

const START_MS = Date.parse('2026-11-01T00:00:00Z');
/** Kubelet and detector report what did not change this often. */
const PERIOD_MS = 300_000;
const PERIODS_PER_HOUR = 3_600_000 / PERIOD_MS;
const KUBELET = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const DETECTOR = ['FrequentTaskHung', 'ReadonlyFilesystem', 'KernelDeadlock'];
/** Of all machines in an hour: about one of a hundred in a day. */
const ILL_PER_HOUR = 0.01 / 24;
const ILL_PERIODS = 3;
const CHUNK = 1024 * 1024;

interface Writer {
  readonly write: (line: RecordedLine) => void;
  readonly end: () => Omit<WrittenRecording, 'ill'>;
}

export function writeRecording(path: string, { machines, hours }: RecordedFleet): WrittenRecording {
  const writer = createWriter(path);
  const names = Array.from({ length: machines }, (_, index) => `node-${String(index).padStart(5, '0')}`);
  writeStart(writer, names);
  const endsOf = new Map<string, number>();
  const ill = new Set<string>();
  let toBegin = 0;
  const periods = hours * PERIODS_PER_HOUR;
  for (let period = 0; period < periods; period += 1) {
    // Those who fall ill at the end are not ill for long enough to be found.
    if (period + ILL_PERIODS < periods) toBegin += (machines * ILL_PER_HOUR) / PERIODS_PER_HOUR;
    for (; toBegin >= 1; toBegin -= 1) {
      // Each time another one, far from the last.
      const name = names[(ill.size * 7919) % machines] ?? '';
      ill.add(name);
      endsOf.set(name, period + ILL_PERIODS);
    }
    writePeriod(writer, { names, period, endsOf });
  }
  return { ...writer.end(), ill: ill.size };
}

interface Period {
  readonly names: readonly string[];
  readonly period: number;
  /** The period in which the kernel of an ill machine works again. */
  readonly endsOf: Map<string, number>;
}

/** Everybody at another moment, first the kubelets and then the detectors. */
function writePeriod({ write }: Writer, of: Period): void {
  const { names, period } = of;
  const slotMs = PERIOD_MS / (2 * names.length);
  const beginMs = START_MS + 1000 + period * PERIOD_MS;
  for (const [index, name] of names.entries()) {
    const at = timeOf(beginMs + index * slotMs);
    write(heartbeat(name, at, KUBELET));
    // A disk that fills by a percent in an hour.
    const isDue = (period + index) % PERIODS_PER_HOUR === 0;
    if (isDue) write({ type: 'Put', at, view: 'machines', object: machineOf(name, 40 + (period % 40)) });
  }
  for (const [index, name] of names.entries()) {
    write(detectorLine(name, timeOf(beginMs + (names.length + index) * slotMs), of));
  }
}

function detectorLine(name: string, at: string, { period, endsOf }: Period): RecordedLine {
  const end = endsOf.get(name);
  if (end !== period && end !== period + ILL_PERIODS) return heartbeat(name, at, DETECTOR);
  if (end === period) endsOf.delete(name);
  return { type: 'Put', at, view: 'nodes', object: nodeOf(name, at, end === period ? 'False' : 'True') };
}

function heartbeat(name: string, at: string, types: readonly string[]): RecordedLine {
  return { type: 'Heartbeat', at, node: name, times: Object.fromEntries(types.map((type) => [type, at])) };
}

function writeStart({ write }: Writer, names: readonly string[]): void {
  const at = timeOf(START_MS);
  write({
    type: 'Started',
    at,
    format: RECORDING_FORMAT,
    version: RECORDING_VERSION,
    kubenode: '0.0.0',
    cluster: { uid: 'c1', server: 'https://bench' },
  });
  for (const name of names) {
    write({ type: 'Put', at, view: 'nodes', object: nodeOf(name, at, 'False') });
    write({ type: 'Put', at, view: 'machines', object: machineOf(name, 40) });
    write({ type: 'Lease', at, view: 'agentLeases', name });
    write({ type: 'Lease', at, view: 'nodeLeases', name });
  }
  write({ type: 'Synced', at });
}

function nodeOf(name: string, at: string, hung: 'True' | 'False'): KubeObject {
  const conditions = [...KUBELET, ...DETECTOR].map((type) => {
    const status = type === 'FrequentTaskHung' ? hung : type === 'Ready' ? 'True' : 'False';
    return { type, status, reason: `${type}Is${status}`, lastHeartbeatTime: at, lastTransitionTime: at };
  });
  const nodeInfo = { bootID: `boot-${name}`, architecture: 'amd64', kernelVersion: '6.8.0' };
  return { ...node(name, 'True', { uid: `uid-${name}` }), status: { conditions, nodeInfo } };
}

function machineOf(name: string, usedPercent: number): KubeObject {
  const facts = { bootedAt: timeOf(START_MS - 86_400_000), disk: [{ filesystem: 'imagefs', usedPercent }] };
  const present = { uid: `uid-${name}`, bootID: `boot-${name}` };
  return machine(name, { status: { facts, node: present } });
}

function createWriter(path: string): Writer {
  const file = openSync(path, 'wx', 0o600);
  let [pending, lines, bytes] = ['', 0, 0];
  const flush = (): void => {
    bytes += writeSync(file, pending);
    pending = '';
  };
  return {
    write: (line) => {
      pending += `${JSON.stringify(line)}\n`;
      lines += 1;
      if (pending.length >= CHUNK) flush();
    },
    end: () => {
      flush();
      closeSync(file);
      return { lines, bytes };
    },
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
