/** Collects facts of the host for rules. It runs beside the loop of the agent: a disk or a runtime that does not answer delays nothing. */
import type { DiskFact, TestResult, XidFact } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { type ConfigDigest, createConfigDigest } from '../detector/config-digest.ts';
import type { Host } from '../host/port.ts';
import { type JobsConfig, readJobsConfig } from '../jobs/config.ts';
import { type DiskTrend, followDisk } from './disk.ts';
import { findFilesystem } from './filesystems.ts';
import {
  type BlockedSince,
  followBlocked,
  judgeHealth,
  judgeRuntime,
  type ProbeAnswers,
  reportProbes,
} from './probes.ts';
import type { ReportedXids } from './xid.ts';
import { createXidLog, type XidLog } from './xid-log.ts';

export interface CollectedFacts {
  readonly disk?: readonly DiskFact[];
  readonly probes?: readonly TestResult[];
  readonly xid?: readonly XidFact[];
  readonly xidSince?: string;
  readonly xidCutCodes?: readonly number[];
  readonly xidOthersSince?: string;
  readonly detectorConfig?: string;
}

export interface FactCollector {
  /** Returns the facts that are known now. */
  facts(): CollectedFacts;
  /** Collects until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

export interface FactCollectorOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly log: Log;
}

const COLLECT_MS = 30_000;
/** The time after which facts that could not be collected again are not reported any more. */
const MAX_AGE_MS = 3 * COLLECT_MS;
const RUNTIME_LIMITS = { timeoutMs: 5000, maxOutputBytes: 4096 };

export function createFactCollector(options: FactCollectorOptions): FactCollector {
  return new Collector(options);
}

class Collector implements FactCollector {
  readonly #options: FactCollectorOptions;
  /** The reads that fail now, by their name, so that each outage is one log line. */
  readonly #failed = new Set<string>();
  #collectedMs = Number.NEGATIVE_INFINITY;
  #disks: readonly DiskTrend[] = [];
  #probes: readonly TestResult[] = [];
  #blocked: BlockedSince = new Map();
  readonly #xidLog: XidLog;
  #xids: ReportedXids | undefined;
  readonly #configDigest: ConfigDigest;
  #detectorConfig: string | undefined;

  constructor(options: FactCollectorOptions) {
    this.#options = options;
    this.#xidLog = createXidLog(options.host);
    this.#configDigest = createConfigDigest(options.host);
  }

  facts(): CollectedFacts {
    const ageMs = this.#options.clock.monotonicMs() - this.#collectedMs;
    // What runs does not age: a disk that hangs must not hide which detector reports it.
    const detector = optional('detectorConfig', this.#detectorConfig);
    if (ageMs > MAX_AGE_MS) return detector;
    return { disk: this.#disks.map(({ fact }) => fact), probes: this.#probes, ...this.#xids, ...detector };
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#collect();
      await this.#options.clock.sleep(COLLECT_MS, signal).catch(() => undefined);
    }
  }

  async #collect(): Promise<void> {
    const { host, clock } = this.#options;
    const config = await this.#attempt('configuration', () => requireConfig(host));
    const disks = config ? await this.#followDisks(config) : [];
    const answers = { ...(await this.#probeHealth()), ...(config ? await this.#probeRuntime(config) : {}) };
    this.#disks = disks;
    this.#probes = reportProbes(answers, this.#probes, clock.now());
    this.#xids = await this.#attempt('xid', () => this.#xidLog.read(clock.now()));
    this.#detectorConfig = await this.#attempt('detector', () => this.#configDigest.read());
    this.#collectedMs = clock.monotonicMs();
  }

  async #followDisks({ filesystems }: JobsConfig): Promise<readonly DiskTrend[]> {
    const { host, clock } = this.#options;
    const disks: DiskTrend[] = [];
    for (const name of Object.keys(filesystems)) {
      const usage = await this.#attempt(name, () => findFilesystem(host.files, filesystems, name));
      const before = this.#disks.find(({ fact }) => fact.filesystem === name);
      if (usage) disks.push(followDisk(before, name, usage, clock.now()));
    }
    return disks;
  }

  async #probeHealth(): Promise<ProbeAnswers> {
    const { host, clock } = this.#options;
    const health = (await this.#attempt('health', () => host.node.health())) ?? {};
    const nowMs = clock.monotonicMs();
    this.#blocked = followBlocked(this.#blocked, health.blockedTasks ?? [], nowMs);
    return judgeHealth(health, this.#blocked, nowMs);
  }

  async #probeRuntime({ crictl }: JobsConfig): Promise<ProbeAnswers> {
    const { processes, capabilities } = this.#options.host;
    if (!capabilities.programs) return {};
    const result = await this.#attempt('runtime', () => processes.run([crictl, 'version'], RUNTIME_LIMITS));
    return result ? judgeRuntime(result) : {};
  }

  /** Runs one read. What fails is unknown, and keeps nothing else from being collected. */
  async #attempt<T>(what: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      const found = await read();
      this.#failed.delete(what);
      return found;
    } catch (error) {
      if (!this.#failed.has(what)) this.#options.log.warn('facts not collected', { what, error });
      this.#failed.add(what);
      return undefined;
    }
  }
}

async function requireConfig({ files }: Pick<Host, 'files'>): Promise<JobsConfig> {
  const config = await readJobsConfig(files);
  if (typeof config === 'string') throw new Error(config);
  return config;
}
