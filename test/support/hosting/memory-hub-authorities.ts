/** What pods of a hub in memory serve and trust: the files of their Secrets, by real certificates. */
import { X509Certificate } from 'node:crypto';
import type { AuthorityProver } from '../../../src/controllers/hosting/drivers/authorities/proofs.ts';
import { tokenKeyId } from '../../../src/controllers/hosting/drivers/authorities/token-key.ts';
import type { AuthorityAge, ProofResult } from '../../../src/controllers/hosting/drivers/rotation.ts';
import { memberOfLabels } from '../../../src/controllers/hosting/drivers/workload/names.ts';
import { keyFilesOf } from '../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import type { PodProbe } from '../../../src/controllers/hosting/drivers/workload/probe.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { ServedCertificate } from '../../../src/local/processes/probe.ts';

export interface MemoryHubAuthorities {
  /** Whether hosting reaches every pod. Else it reaches API servers, and none of them shows a certificate. */
  isAsked: boolean;
  /** The members whose next pods start before their node has the files of the phase. */
  readonly stale: Set<string>;
  /** The ID of the key that an API server signs tokens by. */
  readonly signsBy: (member: string) => string | undefined;
  /** A program reads what it trusts when it starts. */
  readonly start: (pod: KubeObject) => void;
  readonly probe: (asked: PodProbe) => ServedCertificate | undefined;
  readonly prove: (places: Parameters<AuthorityProver>[0]) => Awaited<ReturnType<AuthorityProver>>;
}

const SERVED = ['etcd.pem', 'apiserver.pem', 'serving.pem'];

interface StartedPod {
  readonly secret: string;
  readonly trusted: readonly string[];
  readonly tokenKeyId: string | undefined;
}

export function memoryHubAuthorities(
  secretNamed: (name: string) => KubeObject | undefined,
): MemoryHubAuthorities {
  /** The pod of each member that was started last. */
  const started = new Map<string, StartedPod>();
  const filesOf = (name: string): Readonly<Record<string, string>> => {
    const secret = secretNamed(name);
    return secret ? keyFilesOf(secret) : {};
  };
  /** The kubelet writes the files of a pod again when its Secret changes, and programs serve them. */
  const servedBy = (member: string): X509Certificate | undefined => {
    const files = filesOf(started.get(member)?.secret ?? '');
    const name = SERVED.find((each) => files[each] !== undefined);
    return name === undefined ? undefined : new X509Certificate(files[name] ?? '');
  };
  const found: MemoryHubAuthorities = {
    isAsked: false,
    stale: new Set(),
    signsBy: (member) => started.get(member)?.tokenKeyId,
    start: (pod) => {
      const volume = listAt(pod, 'spec', 'volumes').find((each) => textAt(each, 'name') === 'pki');
      const secret = textAt(volume, 'secret', 'secretName') ?? '';
      const member = memberOfLabels(pod.metadata.labels) ?? '';
      if (found.stale.has(member) && started.has(member)) return;
      const { 'ca.crt': ca, 'sa.key': key } = filesOf(secret);
      started.set(member, { secret, trusted: certificatesIn(ca), tokenKeyId: tokenKeyId(key) });
    },
    probe: ({ member }) => {
      const served = found.isAsked ? servedBy(member) : undefined;
      return served && { serial: served.serialNumber, notAfter: served.validToDate };
    },
    prove: (places) =>
      places.map(({ member, caPem, authorities }) => {
        const served = servedBy(member);
        const isTrusted = served !== undefined && isSignedByOneOf(served, certificatesIn(caPem));
        const answer = (age: AuthorityAge): ProofResult => {
          const authority = authorities[age]?.certPem;
          if (authority === undefined) return 'Missing';
          if (!isTrusted) return 'Unknown';
          return started.get(member)?.trusted.includes(authority) ? 'Accepted' : 'Refused';
        };
        return { member, old: answer('old'), new: answer('new') };
      }),
  };
  return found;
}

export function certificatesIn(text = ''): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
}

function isSignedByOneOf(served: X509Certificate, authorities: readonly string[]): boolean {
  return authorities.some((pem) => served.verify(new X509Certificate(pem).publicKey));
}
