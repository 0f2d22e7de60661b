/** Publishes what the agent reports: on the host, so that it can be read without the API server, then to the Machine. */

import { isDeepStrictEqual } from 'node:util';
import type { MachineAuthorities, MachineStatus, PeerAnswer } from '../../api/generated/types.ts';
import { entriesDigest, hasGrants } from '../../api/machine/entry-report.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { wholeSeconds } from '../../os/dates.ts';
import type { AuthoritiesFollower } from '../authorities/follower.ts';
import { reportAuthorities } from '../authorities/report.ts';
import type { AcceptedState } from '../desired/accepted.ts';
import type { CollectedFacts } from '../facts/collector.ts';
import type { Host } from '../host/port.ts';
import type { ReportedJobStep } from '../jobs/answer.ts';
import { permitsOf, readJobsConfig } from '../jobs/config.ts';
import { STATUS_FILE } from '../layout.ts';
import type { AgentApi } from '../run/api.ts';
import { readStateFile, writeStateFile } from '../state-file.ts';
import { type AgentStatus, type ReportedComponent, reportStatus } from './report.ts';
import { createReportPace, type ReportPace } from './report-pace.ts';

/** Holds what `kubenode agent status` reads. */
export interface StoredStatus {
  readonly machine: string;
  readonly writtenAt: string;
  readonly online: boolean;
  readonly status: AgentStatus;
  /** The steps of repair jobs, newest first. */
  readonly jobs?: readonly ReportedJobStep[];
}

export interface StatusPublisherOptions {
  readonly host: Host;
  readonly api: Pick<AgentApi, 'isOnline' | 'writeStatus'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly machine: string;
  readonly version: string;
  readonly certificateNotAfter?: () => Date | undefined;
  /** Returns what the agent follows of its authorities. Undefined: another program keeps its certificate. */
  readonly authorities?: () => AuthoritiesFollower | undefined;
  /** Returns the facts for rules. */
  readonly facts?: () => CollectedFacts;
  /** Returns what was found of silent machines. */
  readonly peers?: () => readonly PeerAnswer[];
}

export interface PublishInput {
  readonly reports: ReadonlyMap<string, ReportedComponent>;
  readonly jobs: readonly ReportedJobStep[];
  readonly state: AcceptedState | undefined;
  readonly refused: string | undefined;
  /** The reason why no state of the Machine was ever accepted. */
  readonly missing: string | undefined;
  /** The reason why changes of files are found by scans alone. */
  readonly unwatched: string | undefined;
}

export interface PublishedStatus {
  readonly status: AgentStatus;
  /** The report before it, also of an earlier process. */
  readonly before?: AgentStatus;
}

export class StatusPublisher {
  readonly #options: StatusPublisherOptions;
  readonly #startedAt: string;
  #stored: StoredStatus | undefined;
  #reported: AgentStatus | undefined;
  readonly #pace: ReportPace;

  private constructor(options: StatusPublisherOptions, stored: StoredStatus | undefined) {
    this.#options = options;
    this.#startedAt = options.clock.now().toISOString();
    this.#stored = stored;
    this.#reported = stored?.status;
    this.#pace = createReportPace(options.clock);
  }

  static async open(options: StatusPublisherOptions): Promise<StatusPublisher> {
    return new StatusPublisher(options, await readStateFile<StoredStatus>(options.host.files, STATUS_FILE));
  }

  async publish(input: PublishInput): Promise<PublishedStatus> {
    const { api, log } = this.#options;
    const before = this.#reported;
    const status = this.#report(input);
    this.#reported = status;
    // A full disk is reported to the Machine all the same.
    await this.#store(status, input.jobs).catch((error: unknown) => log.warn('status not stored', { error }));
    if (input.state && api.isOnline()) await this.#writeStatus(input.state, status, input.reports);
    return { status, ...optional('before', before) };
  }

  /** Returns when a report that waits is due, by the monotonic clock. */
  nextMs(): number | undefined {
    return this.#pace.nextMs();
  }

  #report({ reports, state, refused, missing, unwatched }: PublishInput): AgentStatus {
    const entries = new Map(state?.spec.components.map((entry) => [entry.name, entry]));
    const components = [...reports].map(
      ([name, each]) => [name, { ...each, ...optional('entry', entries.get(name)) }] as const,
    );
    return reportStatus({
      components: new Map(components),
      generation: state?.generation ?? 0,
      now: this.#options.clock.now(),
      ...optional('before', this.#stored?.status),
      ...optional('refused', refused),
      ...optional('missing', missing),
      ...optional('unwatched', unwatched),
    });
  }

  async #store(status: AgentStatus, jobs: readonly ReportedJobStep[]): Promise<void> {
    const { machine, clock, host, api } = this.#options;
    const next = { machine, online: api.isOnline(), status, jobs };
    if (isDeepStrictEqual({ ...this.#stored, ...next }, this.#stored)) return;
    const stored = { ...next, writtenAt: clock.now().toISOString() };
    await writeStateFile(host.files, STATUS_FILE, stored);
    // Only now: what could not be written is written by the next reconcile.
    this.#stored = stored;
  }

  /** The field is absent while no machine is silent. */
  #peers(): Pick<MachineStatus, 'peers'> {
    const peers = this.#options.peers?.() ?? [];
    return peers.length > 0 ? { peers } : {};
  }

  /** Absent before the authorities were read once. */
  async #authorities(
    reports: PublishInput['reports'],
  ): Promise<{ readonly authorities?: MachineAuthorities }> {
    const { authorities, clock, host } = this.#options;
    if (!authorities) return {};
    const moment = { bootId: await host.node.bootId(), now: clock.now() };
    return reportAuthorities(authorities(), [...reports.values()], moment);
  }

  async #writeStatus(
    { name, uid, generation, spec }: AcceptedState,
    status: AgentStatus,
    reports: PublishInput['reports'],
  ): Promise<void> {
    const { host, api, log, version } = this.#options;
    const { bootedAt, ...system } = await host.node.facts();
    const ends = this.#options.certificateNotAfter?.();
    const jobs = await readJobsConfig(host.files);
    const type = host.type === 'systemd' ? ('systemd' as const) : ('sandbox' as const);
    const all = {
      ...status,
      agent: {
        observedGeneration: generation,
        entriesDigest: entriesDigest(spec),
        version,
        host: type,
        startedAt: this.#startedAt,
        ...optional('certificateNotAfter', ends && wholeSeconds(ends)),
        ...(await this.#authorities(reports)),
        ...optional('permits', typeof jobs === 'string' ? undefined : permitsOf(jobs)),
      },
      system: { ...system, machineID: await host.node.machineId() },
      facts: { bootedAt: bootedAt.toISOString(), ...this.#options.facts?.() },
      ...this.#peers(),
    };
    if (!this.#pace.isDue(all, hasGrants(spec))) return;
    try {
      await api.writeStatus({ name, uid }, all);
      this.#pace.wrote(all);
    } catch (error) {
      log.warn('status not written', { error });
    }
  }
}
