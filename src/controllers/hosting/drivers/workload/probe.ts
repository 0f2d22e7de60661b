/** Asks the pods of members for the certificates that they serve. A pod that cannot be reached from here serves none that is known. */
import { type ServedCertificate, sendProbe } from '../../../../local/processes/probe.ts';
import { isApiServer, isEtcdMember } from '../driver.ts';
import type { WorkloadMember } from './names.ts';
import { type KeyFiles, type KeyRequest, pairOf, trustedCertificates } from './pki/keys.ts';
import { memberPort, urlOf } from './ports.ts';

/** Every certificate has this name: a pod gets another address with each start. */
export const SERVER_NAME = 'localhost';
const PROBE_MS = 2000;

export interface PodProbe {
  readonly member: WorkloadMember;
  readonly address: string;
  readonly apiPort: number;
  readonly files: KeyFiles;
  readonly request: KeyRequest;
}

export type CertificateProbe = (probe: PodProbe) => Promise<ServedCertificate | undefined>;

export async function probeCertificate(probe: PodProbe): Promise<ServedCertificate | undefined> {
  const { member, files, request } = probe;
  if (member === 'kubenode-controllers') return undefined;
  const isEtcd = isEtcdMember(member);
  const caPem = trustedCertificates(files, isEtcd ? 'etcd-ca' : 'ca');
  const client = pairOf(files, request, isEtcd ? 'etcd-client' : 'admin');
  if (caPem === undefined || !client) return undefined;
  const endpoint = { url: urlOfPod(probe), caPem, client, serverName: SERVER_NAME };
  const answer = await sendProbe(endpoint, { timeoutMs: PROBE_MS }).catch(() => undefined);
  return answer?.certificate;
}

/** Returns where a pod is asked without a request that costs it anything. The controller manager has no other path. */
export function urlOfPod({
  member,
  address,
  apiPort,
}: Pick<PodProbe, 'member' | 'address' | 'apiPort'>): string {
  const path = isEtcdMember(member) ? '/health' : isApiServer(member) ? '/livez' : '/healthz';
  return `${urlOf(address, memberPort(member, apiPort))}${path}`;
}
