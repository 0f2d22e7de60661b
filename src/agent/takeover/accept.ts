/** Takes the certificate of the agent, and where its API server is, and starts the agent. It may be killed at any line, and repeated. */
import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { AGENT_GROUP } from '../../api/names.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Host, HostFiles } from '../host/port.ts';
import { knownCluster, rememberCluster } from '../identity/access.ts';
import { createIdentityStore, identityFiles } from '../identity/store.ts';
import { OWN_UNIT, ownUnit } from '../install/own-unit.ts';
import { AGENT_PKI, CLUSTER_CA_FILE } from '../layout.ts';
import type { AccessInput } from './access-input.ts';
import { TakeoverError } from './errors.ts';
import { machineOfCertificate, parseCertificate, requireHostFor, subjectPart } from './host-owner.ts';
import { readImportRecord } from './record.ts';
import { storeRegistries } from './registries.ts';

export async function acceptAccess(host: Host, machine: string, access: AccessInput): Promise<void> {
  const { files } = host;
  await requireHostFor(files, { machine });
  const certificate = requireCertificate(access.certificatePem, machine);
  if (access.ca !== undefined && !parseCertificate(access.ca)) {
    throw new TakeoverError('BadInput', 'stdin: ca is not a certificate in PEM');
  }
  const key = await requireKey(files, certificate);
  // Before the agent starts: its first download may need them.
  await storeRegistries(files, access.registries);
  const isChanged = await isOther(files, access, certificate);
  if (isChanged) {
    const store = createIdentityStore(files, identityFiles(AGENT_PKI));
    await rememberCluster(host, { server: access.server, ...optional('ca', access.ca) });
    // Certificate and key at once: from here on this host can reach the API server.
    await store.store(certificate.toString(), key);
  }
  await forgetPending(files, certificate);
  if (host.capabilities.systemdUnits) await startAgentUnit(host, isChanged);
}

function requireCertificate(pem: string, machine: string): X509Certificate {
  const certificate = parseCertificate(pem);
  if (!certificate) throw new TakeoverError('BadInput', 'stdin: certificatePem is not a certificate in PEM');
  if (machineOfCertificate(certificate) !== machine || subjectPart(certificate, 'O') !== AGENT_GROUP) {
    throw new TakeoverError('WrongCertificate', `the certificate is not for the agent of Machine ${machine}`);
  }
  return certificate;
}

/** Finds the private key of the certificate among those of this host: the one that waits, and the one in use. */
async function requireKey(files: HostFiles, certificate: X509Certificate): Promise<KeyObject> {
  const { pendingKey, certificate: current } = identityFiles(AGENT_PKI);
  for (const path of [pendingKey, current]) {
    const key = parseKey(await files.read(path));
    if (key && certificate.checkPrivateKey(key)) return key;
  }
  throw new TakeoverError('WrongCertificate', 'the certificate is not for the key of this host', {
    hint: 'make the request again: kubenode-agent request',
  });
}

function parseKey(content: Uint8Array | undefined): KeyObject | undefined {
  try {
    return content && createPrivateKey(Buffer.from(content));
  } catch {
    return undefined;
  }
}

async function isOther(
  files: HostFiles,
  { server, ca }: AccessInput,
  certificate: X509Certificate,
): Promise<boolean> {
  const cluster = await knownCluster({ files });
  if (cluster?.server !== server || cluster.hasCa !== (ca !== undefined)) return true;
  if (ca !== undefined && (await textOf(files, CLUSTER_CA_FILE)) !== ca) return true;
  const current = parseCertificate((await files.read(identityFiles(AGENT_PKI).certificate)) ?? '');
  return current?.fingerprint256 !== certificate.fingerprint256;
}

async function textOf(files: HostFiles, path: string): Promise<string | undefined> {
  const content = await files.read(path);
  return content && new TextDecoder().decode(content);
}

/** Removes the key that waited for this certificate. Another key waits for another one. */
async function forgetPending(files: HostFiles, certificate: X509Certificate): Promise<void> {
  const { pendingKey } = identityFiles(AGENT_PKI);
  const key = parseKey(await files.read(pendingKey));
  if (key && certificate.checkPrivateKey(key)) await files.remove(pendingKey);
}

async function startAgentUnit({ files, units }: Host, isChanged: boolean): Promise<void> {
  const unit = (await readImportRecord(files))?.unit;
  if (!unit) {
    const hint = 'install it first: kubenode-agent install';
    throw new TakeoverError('BadInput', 'this host has no unit of the agent', { hint });
  }
  const status = await units.status(ownUnit(unit));
  if (status?.enabled !== true) await units.setEnabled(OWN_UNIT, true);
  // An agent that runs has read where its API server was.
  if (isChanged && status?.active !== 'Inactive') await units.stop(OWN_UNIT);
  await units.start(OWN_UNIT);
}
