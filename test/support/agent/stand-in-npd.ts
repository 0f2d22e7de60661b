/**
 * Writes to the API server as node-problem-detector does: a strategic merge patch of all fields of its conditions with a new
 * heartbeat, and Events of the core group. Without a field manager in the request, its user agent names it.
 */
import { loadConfig } from '../../../src/kube/auth/config.ts';
import { createHttpsTransport } from '../../../src/kube/transport/https.ts';
import type { HttpRequest } from '../../../src/kube/transport/transport.ts';
import type { Clock } from '../../../src/os/clock.ts';

export interface StandInNpd {
  /** Its conditions, by type. Sends all of them, as each heartbeat does. */
  sync(change?: Readonly<Record<string, NpdCondition>>): Promise<void>;
  event(source: string, reason: string, message: string): Promise<void>;
  close(): Promise<void>;
}

export interface NpdCondition {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface StandInNpdOptions {
  readonly kubeconfig: string;
  readonly node: string;
  readonly clock: Clock;
}

export async function createStandInNpd({ kubeconfig, node, clock }: StandInNpdOptions): Promise<StandInNpd> {
  const { connection } = await loadConfig({ kubeconfig, clock });
  const transport = createHttpsTransport({ ...connection, userAgent: 'node-problem-detector/v0.8.20' });
  const conditions = new Map<string, NpdCondition & { readonly lastTransitionTime: string }>();
  let events = 0;

  async function send(request: HttpRequest, body: object): Promise<void> {
    const answer = await transport.request({ ...request, body: JSON.stringify(body) });
    if (answer.status >= 300) throw new Error(`${request.method} ${request.path}: ${answer.body}`);
  }

  return {
    async sync(change = {}) {
      const lastHeartbeatTime = timeOf(clock.now());
      for (const [type, condition] of Object.entries(change)) {
        conditions.set(type, { ...condition, lastTransitionTime: lastHeartbeatTime });
      }
      const all = [...conditions].map(([type, each]) => ({ type, ...each, lastHeartbeatTime }));
      const path = `/api/v1/nodes/${node}/status`;
      const contentType = 'application/strategic-merge-patch+json';
      await send({ method: 'PATCH', path, contentType }, { status: { conditions: all } });
    },
    async event(source, reason, message) {
      events += 1;
      const time = timeOf(clock.now());
      await send(
        { method: 'POST', path: '/api/v1/namespaces/default/events', contentType: 'application/json' },
        {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name: `${node}.npd-${events}` },
          involvedObject: { kind: 'Node', name: node, uid: node },
          source: { component: source, host: node },
          type: 'Warning',
          reason,
          message,
          firstTimestamp: time,
          lastTimestamp: time,
          count: 1,
        },
      );
    },
    close: () => transport.close(),
  };
}

function timeOf(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
