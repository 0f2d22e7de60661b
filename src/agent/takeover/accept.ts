/** Takes the certificate of the agent, and where its API server is, and starts the agent. It may be killed at any line, and repeated. */
import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { AGENT_GROUP } from '../../api/names.ts';
import { optional } from '../../kube/objects/optional.ts';
import { readTrustedFile } from '../authorities/store.ts';
import type { Host, HostFiles } from '../host/port.ts';
import { isKnownCluster, joinCluster } from '../identity/remember-cluster.ts';
import { createIdentityStore, identityFiles } from '../identity/store.ts';
import { OWN_UNIT, ownUnit } from '../install/own-unit.ts';
import { AGENT_PKI } from '../layout.ts';
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
  const [isOther, isRenewed] = [
    await isOtherCluster(files, access),
    await isOtherCertificate(files, certificate),
  ];
  if (isOther) await joinCluster(host, { server: access.server, ...optional('ca', access.ca) });
  // Certificate and key at once: from here on this host can reach the API server.
  if (isRenewed) {
    await createIdentityStore(files, identityFiles(AGENT_PKI)).store(certificate.toString(), key);
  }
  await forgetPending(files, certificate);
  if (host.capabilities.systemdUnits) await startAgentUnit(host, isOther || isRenewed);
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

/** The CA in use differs from what a person brought after a rotation, so that only its presence counts. */
async function isOtherCluster(files: HostFiles, { server, ca }: AccessInput): Promise<boolean> {
  if (!(await isKnownCluster(files, { server, ...optional('ca', ca) }))) return true;
  return ca !== undefined && (await readTrustedFile(files)) === undefined;
}

async function isOtherCertificate(files: HostFiles, certificate: X509Certificate): Promise<boolean> {
  const current = parseCertificate((await files.read(identityFiles(AGENT_PKI).certificate)) ?? '');
  return current?.fingerprint256 !== certificate.fingerprint256;
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
