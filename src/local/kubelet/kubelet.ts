/**
 * Runs a stand-in for a kubelet on sandbox nodes: it registers its Node, renews its Lease, reports the status, reports the pods of the node
 * as running, and ends those that are evicted or deleted. It runs nothing.
 */
import { createReflector } from '../../kube/cache/reflector.ts';
import { createStore } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { NODES, PODS } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { type KubeletFacts, nodeLease, nodeObject, nodeStatus } from './node.ts';
import { type PodAction, type PodObject, planPods, runningPod } from './pods.ts';

export interface StandInOptions {
  readonly client: Client;
  readonly facts: KubeletFacts;
  /** The time between two renewals of the Lease. */
  readonly heartbeatMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

/**
 * The time between two writes of the status, as in the kubelet: the Lease is the heartbeat, and the status is only repeated so that it is
 * not taken for stale.
 */
const STATUS_EVERY_MS = 5 * 60_000;
const MANAGER = 'kubelet';

export class StandInKubelet {
  readonly #options: StandInOptions;
  #readySince: Date;
  #nodeUid: string | undefined;
  #statusMs = Number.NEGATIVE_INFINITY;
  #heartbeatMs = Number.NEGATIVE_INFINITY;

  constructor(options: StandInOptions) {
    this.#options = options;
    this.#readySince = options.clock.now();
  }

  /** Returns why the node is not healthy now. */
  unhealthyReason(): string | undefined {
    const silentMs = this.#options.clock.monotonicMs() - this.#heartbeatMs;
    if (silentMs <= 4 * this.#options.heartbeatMs) return undefined;
    return Number.isFinite(silentMs)
      ? `no heartbeat for ${Math.round(silentMs / 1000)} s`
      : 'the node is not registered';
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, log, random, facts } = this.#options;
    const store = createStore<PodObject>({ log });
    let changed = new AbortController();
    const onChange = (): void => changed.abort();
    store.subscribe({ added: onChange, updated: onChange });
    const fieldSelector = `spec.nodeName=${facts.name}`;
    const reflector = createReflector<PodObject>({
      client,
      resource: PODS,
      store,
      clock,
      log,
      random,
      fieldSelector,
    });
    const watching = reflector.run(signal);
    while (!signal.aborted) {
      changed = new AbortController();
      await this.#reconcile(store.list());
      await clock.sleep(this.#waitMs(), AbortSignal.any([changed.signal, signal])).catch(() => undefined);
    }
    await watching;
  }

  /** Reports the node and its pods. What fails is logged, and repeated with the next heartbeat. */
  async #reconcile(pods: readonly PodObject[]): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#report();
    } catch (error) {
      log.warn('node not reported', { error });
    }
    for (const action of planPods(pods)) {
      await this.#carryOut(action).catch((error: unknown) =>
        log.warn('pod not reported', { pod: action.pod.metadata, error }),
      );
    }
  }

  async #report(): Promise<void> {
    const { client, clock, facts, heartbeatMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#heartbeatMs < heartbeatMs / 2) return;
    const uid = this.#nodeUid ?? (await this.#register());
    if (this.#isLate(nowMs) || nowMs - this.#statusMs >= STATUS_EVERY_MS) {
      await this.#writeStatus();
      this.#statusMs = nowMs;
    }
    const lease = nodeLease(facts.name, uid, clock.now());
    await client.apply(LEASES, lease, { fieldManager: MANAGER, force: true });
    this.#heartbeatMs = nowMs;
  }

  /** Tells whether the heartbeat is so late that the cluster may have marked the node as unknown; then Ready begins again. */
  #isLate(nowMs: number): boolean {
    const { heartbeatMs, clock } = this.#options;
    if (nowMs - this.#heartbeatMs <= 2 * heartbeatMs) return false;
    this.#readySince = clock.now();
    return true;
  }

  async #writeStatus(): Promise<void> {
    const { client, clock, facts, log } = this.#options;
    const status = nodeStatus(facts, this.#readySince, clock.now());
    try {
      await client.apply(NODES, status, { fieldManager: MANAGER, force: true, subresource: 'status' });
      log.info('status written', { node: facts.name });
    } catch (error) {
      // The Node was deleted: the next heartbeat registers another one.
      if (isKubeError(error, 'NotFound')) this.#nodeUid = undefined;
      throw error;
    }
  }

  async #register(): Promise<string> {
    const { client, facts, log } = this.#options;
    const node = await client
      .create(NODES, nodeObject(facts))
      .catch((error: unknown): Promise<KubeObject> => {
        if (!isKubeError(error, 'AlreadyExists')) throw error;
        return client.get(NODES, { name: facts.name });
      });
    const { uid = '' } = node.metadata;
    log.info('node registered', { node: facts.name, uid });
    this.#nodeUid = uid;
    this.#statusMs = Number.NEGATIVE_INFINITY;
    return uid;
  }

  async #carryOut({ type: what, pod }: PodAction): Promise<void> {
    const { client, clock, log } = this.#options;
    const { name, namespace = '', uid = '' } = pod.metadata;
    if (what === 'Run') {
      const options = { fieldManager: MANAGER, force: true, subresource: 'status' };
      await client.apply(PODS, runningPod(pod, clock.now()), options);
    } else {
      await client
        .delete(PODS, { name, namespace }, { uid, gracePeriodSeconds: 0 })
        .catch((error: unknown) => {
          if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
        });
    }
    log.info(what === 'Run' ? 'pod reported as running' : 'pod ended', { name, namespace });
  }

  #waitMs(): number {
    const { clock, heartbeatMs } = this.#options;
    const dueMs = this.#heartbeatMs + heartbeatMs - clock.monotonicMs();
    return Math.min(heartbeatMs, Math.max(heartbeatMs / 10, dueMs));
  }
}
