/**
 * Follows the authorities of the cluster while hosting rotates them: reads what is published, judges it, and keeps the file of the CA and the
 * report. What the agent cannot follow is part of the report, because the rotation waits for it.
 */
import { X509Certificate } from 'node:crypto';
import { certificatesIn, issuerOf } from '../../api/authorities/document.ts';
import type { MachineAuthorities } from '../../api/generated/types.ts';
import { CONFIG_AUTHORITIES } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type { Host } from '../host/port.ts';
import { identityFiles } from '../identity/store.ts';
import { AGENT_PKI, KUBELET_PKI } from '../layout.ts';
import type { KubeletCertificate } from './kubelet.ts';
import { ensureApplied, follow, readFollowed, readFollowedRecord, readTrustedFile } from './store.ts';
import {
  decideFollow,
  type FollowDecision,
  type FollowedAuthorities,
  type PublishedInput,
} from './verify.ts';

export interface FollowerOptions {
  readonly host: Pick<Host, 'files'>;
  readonly client: Pick<Client, 'get'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onChange: () => void;
  /** Returns the kubelets that run. Undefined: they are not known at the moment. */
  readonly kubelets: () => Promise<readonly string[] | undefined>;
}

type Authorities = ReadonlyMap<string, X509Certificate>;

/** The report of the agent, without that of its kubelet. */
export type AuthoritiesReport = Omit<MachineAuthorities, 'kubelet'>;

export interface AuthoritiesFollower {
  /** Reads what the host trusts, and nothing of the API server. */
  describe(): Promise<void>;
  /** Reads what is published, and follows it. Returns when to do it again, in milliseconds. */
  step(): Promise<number>;
  /** Returns what is followed. Undefined: nothing was ever published. */
  followed(): FollowedAuthorities | undefined;
  /** Returns the authority that is to have issued the certificates of this host. */
  issuer(): X509Certificate | undefined;
  /** Returns the certificate of the kubelet. Undefined: it has none. */
  kubelet(): KubeletCertificate | undefined;
  /** Undefined before the first description. */
  report(): AuthoritiesReport | undefined;
}

/** Agents read it a sixth as often as they renew their Leases. */
const READ_MS = 60_000;
/** The time after which kubelets are listed again that start or stop. */
const UNAPPLIED_MS = 5000;
const MAX_PROBLEM = 512;
const NO_CA = 'this host trusts the authorities of its system: give it the CA of the cluster';
const NOT_READ = 'the ConfigMap cannot be read';

export function createAuthoritiesFollower(options: FollowerOptions): AuthoritiesFollower {
  const { client, clock, random, log, onChange, kubelets } = options;
  const { files } = options.host;
  const host = { files, clock, kubelets };
  let followed: FollowedAuthorities | undefined;
  let report: AuthoritiesReport | undefined;
  let kubelet: KubeletCertificate | undefined;
  let problem: string | undefined;

  async function followPublished(): Promise<void> {
    const found = await unlessMissing(client.get(CONFIG_MAPS, CONFIG_AUTHORITIES));
    const published = found && ((found as { data?: Readonly<Record<string, unknown>> }).data ?? {});
    const decision = await decide(published);
    if (decision.type === 'Refuse') return refuse(decision.because);
    problem = undefined;
    if (decision.type === 'Keep') return;
    await follow(host, decision);
    const { rotation, phase, order } = decision.document;
    log.info('authorities followed', { rotation, phase, order });
  }

  async function decide(published: PublishedInput['published']): Promise<FollowDecision> {
    const trusted = await readTrustedFile(files);
    if (published && trusted === undefined) return { type: 'Refuse', because: NO_CA };
    const record = await readFollowedRecord(files);
    if (record && 'problem' in record) return { type: 'Refuse', because: record.problem };
    return decideFollow({ published, trusted: trusted ?? '', followed: record?.followed });
  }

  function refuse(because: string): void {
    if (because !== problem) log.warn('authorities not followed', { because });
    problem = truncate(because, MAX_PROBLEM);
  }

  async function update(): Promise<void> {
    const before = JSON.stringify([followed, report, kubelet]);
    followed = await readFollowed(files);
    const authorities = certificatesIn((await readTrustedFile(files)) ?? '');
    report = await reportOf(authorities);
    kubelet = await readKubelet(authorities);
    if (JSON.stringify([followed, report, kubelet]) !== before) onChange();
  }

  async function readKubelet(authorities: Authorities): Promise<KubeletCertificate | undefined> {
    const path = identityFiles(KUBELET_PKI).certificate;
    const certificate = await readCertificate(path);
    const writtenAt = (await files.stat(path))?.modifiedAt;
    return certificate && writtenAt && { issuer: issuerOf(certificate, authorities), writtenAt };
  }

  async function readCertificate(path: string): Promise<X509Certificate | undefined> {
    const content = await files.read(path);
    return content && parseCertificate(content);
  }

  async function reportOf(authorities: Authorities): Promise<AuthoritiesReport> {
    const certificate = await readCertificate(identityFiles(AGENT_PKI).certificate);
    return {
      managed: true,
      ...(followed && { rotation: followed.rotation, phase: followed.phase, order: followed.order }),
      trusted: [...authorities.keys()].toSorted().slice(0, MAX_TRUSTED),
      ...optional('issuer', certificate && issuerOf(certificate, authorities)),
      ...optional('problem', problem),
    };
  }

  return {
    describe: update,
    async step() {
      if (await ensureApplied(host)) log.info('CA of the cluster written', {});
      await followPublished().catch((error: unknown) => {
        // Only an answer tells anything about what is published.
        if (!isKubeError(error)) throw error;
        if (error.code === 'Forbidden') refuse(`${NOT_READ}: ${messageOf(error)}`);
      });
      await update();
      return (followed?.isApplied === false ? UNAPPLIED_MS : READ_MS) * (0.5 + random());
    },
    followed: () => followed,
    issuer: () => (followed ? certificatesIn(followed.authorities.join('')).get(followed.issuer) : undefined),
    kubelet: () => kubelet,
    report: () => report,
  };
}

/** The status has room for so many. */
const MAX_TRUSTED = 4;

function parseCertificate(content: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(content);
  } catch {
    return undefined;
  }
}
