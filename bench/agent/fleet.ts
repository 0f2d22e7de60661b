/** Simulated agents and one API server: their requests while idle, and after it was restarted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectSimulated } from '../../src/agent/simulate/connect.ts';
import { simulateFleet } from '../../src/agent/simulate/fleet.ts';
import { agentUser } from '../../src/api/names.ts';
import type { CallReport } from '../../src/kube/client/request.ts';
import type { Log } from '../../src/kube/process/log.ts';
import { createPrincipal } from '../../src/local/pki/principal.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { systemRandom } from '../../src/os/system-random.ts';
import type { ApiServer } from '../../test/support/control-plane-server.ts';
import { declareMachine, plainComponent, storeComponents } from './components.ts';

export interface FleetLoad {
  /** Requests of one agent in a second. */
  readonly idlePerAgent: number;
  /** Lists, watches and reads after the server was back, in the busiest five seconds. */
  readonly reconnectPerSecond: number;
  /** The same in the busiest second. What was due while this process, with all of its agents, did not run is sent at once. */
  readonly reconnectBusiestSecond: number;
  /** With the heartbeats, which never pause, in the busiest five seconds. */
  readonly requestsPerSecond: number;
  readonly reconnectSeconds: number;
  readonly requestsForReconnect: number;
}

const IDLE_MS = 60_000;
const STARTS_PER_SECOND = 50;
/** Of the Machine and of the jobs. */
const WATCHES = 2;
const WITHIN_MS = 600_000;
const RATE_SECONDS = 5;

interface Call {
  readonly machine: string;
  readonly verb: string;
  /** When it was sent: a busy server answers many at once. */
  readonly atMs: number;
}

export async function measureFleet(server: ApiServer, agents: number): Promise<FleetLoad> {
  const names = Array.from({ length: agents }, (_, index) => `sim-${index}`);
  const components = await storeComponents(server.client, [plainComponent(0)]);
  for (const name of names) await declareMachine(server.client, name, components);
  const clock = createSystemClock();
  const stop = new AbortController();
  let calls: Call[] = [];
  const running = simulateFleet(
    {
      machines: names,
      connect(machine) {
        const { certPem, keyPem } = server.certificateFor(createPrincipal(agentUser(machine)));
        const onCall = (report: CallReport): void => {
          const atMs = performance.now() - report.seconds * 1000;
          if (isAnswered(report)) calls.push({ machine, verb: report.verb, atMs });
        };
        const pem = { ca: server.caPem, cert: certPem, key: keyPem };
        return connectSimulated({ ...pem, server: server.url, clock, onCall });
      },
      startsPerSecond: STARTS_PER_SECOND,
      version: 'bench',
      clock,
      log: QUIET,
      random: systemRandom,
    },
    stop.signal,
  );
  try {
    await until(() => watching(calls, 0) === agents);
    // The first reports and the probation of the component.
    await sleep(30_000);
    calls = [];
    await sleep(IDLE_MS);
    const idlePerAgent = calls.length / agents / (IDLE_MS / 1000);
    await server.kill('SIGTERM');
    calls = [];
    await server.start();
    const backMs = performance.now();
    await until(() => watching(calls, 0) === agents);
    return { idlePerAgent, ...reconnectLoad(calls, backMs) };
  } finally {
    stop.abort();
    await running;
  }
}

/** Codes of errors without an answer are words. */
function isAnswered({ code }: CallReport): boolean {
  return /^\d+$/.test(code);
}

/** How many agents have opened all of their watches since then. */
function watching(calls: readonly Call[], sinceMs: number): number {
  const opened = calls.filter(({ verb, atMs }) => verb === 'watch' && atMs >= sinceMs);
  return [...Map.groupBy(opened, ({ machine }) => machine).values()].filter(({ length }) => length >= WATCHES)
    .length;
}

function reconnectLoad(calls: readonly Call[], backMs: number): Omit<FleetLoad, 'idlePerAgent'> {
  const reconnects = calls.filter(({ verb }) => verb !== 'apply');
  return {
    reconnectPerSecond: mostWithin(reconnects, RATE_SECONDS) / RATE_SECONDS,
    reconnectBusiestSecond: mostWithin(reconnects, 1),
    requestsPerSecond: mostWithin(calls, RATE_SECONDS) / RATE_SECONDS,
    reconnectSeconds: calls.reduce((last, { atMs }) => Math.max(last, atMs - backMs), 0) / 1000,
    requestsForReconnect: reconnects.length,
  };
}

/** In any such time, wherever it begins. */
function mostWithin(calls: readonly Call[], seconds: number): number {
  const times = calls.map(({ atMs }) => atMs).toSorted((a, b) => a - b);
  let first = 0;
  let most = 0;
  for (const [index, atMs] of times.entries()) {
    while ((times[first] ?? atMs) <= atMs - seconds * 1000) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not reached within ${WITHIN_MS} ms`);
    await sleep(500);
  }
}

const QUIET: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => QUIET };
