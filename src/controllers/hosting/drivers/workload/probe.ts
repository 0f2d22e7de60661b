/** Asks the pods of members for the certificates that they serve. A pod that cannot be reached from here serves none that is known. */
import { type ServedCertificate, sendProbe } from '../../../../local/processes/probe.ts';
import { isEtcdMember } from '../driver.ts';
import type { WorkloadMember } from './names.ts';
import { authorityCertificate, type KeyFiles, type KeyRequest, pairOf } from './pki/keys.ts';
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
  const caPem = authorityCertificate(files, isEtcd ? 'etcd-ca' : 'ca');
  const client = pairOf(files, request, isEtcd ? 'etcd-client' : 'admin');
  if (caPem === undefined || !client) return undefined;
  const endpoint = { url: urlOfPod(probe), caPem, client, serverName: SERVER_NAME };
  const answer = await sendProbe(endpoint, { timeoutMs: PROBE_MS }).catch(() => undefined);
  return answer?.certificate;
}

function urlOfPod({ member, address, apiPort }: PodProbe): string {
  return `${urlOf(address, memberPort(member, apiPort))}${isEtcdMember(member) ? '/health' : '/livez'}`;
}
