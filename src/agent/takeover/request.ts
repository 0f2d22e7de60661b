/** Makes the certificate request of the agent. The key is made on this host, once, and never leaves it. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { AGENT_GROUP, agentUser } from '../../api/names.ts';
import type { Clock } from '../../os/clock.ts';
import { createCertificateRequest } from '../../os/x509/certificate-request.ts';
import type { Host } from '../host/port.ts';
import { createIdentityStore, identityFiles } from '../identity/store.ts';
import { AGENT_PKI } from '../layout.ts';
import { requireHostFor } from './host-owner.ts';

export interface RequestCertificateOptions {
  readonly machine: string;
  /** Whether to make another key although the host has a certificate: a person raised the epoch of the agent. */
  readonly renew: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Returns the request as PEM. It is for the key that waits for a certificate; without one, for the key of the valid certificate, whose
 * request has been answered already, so that a caller who was interrupted finds the same request again.
 */
export async function requestCertificate(
  { files }: Pick<Host, 'files'>,
  { machine, renew, clock }: RequestCertificateOptions,
): Promise<string> {
  await requireHostFor(files, { machine });
  const paths = identityFiles(AGENT_PKI);
  const store = createIdentityStore(files, paths);
  const held = renew ? undefined : await heldKey();
  const key = (await store.pendingKey()) ?? held ?? (await createKey());
  return createCertificateRequest({ commonName: agentUser(machine), organization: AGENT_GROUP }, key);

  /** Returns the key of the certificate in use, while that is valid. */
  async function heldKey(): Promise<KeyObject | undefined> {
    const certificate = await store.held();
    if (!certificate || certificate.notAfter <= clock.now()) return undefined;
    const content = await files.read(paths.certificate);
    return content && createPrivateKey(Buffer.from(content));
  }

  async function createKey(): Promise<KeyObject> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await store.writePendingKey(privateKey);
    return privateKey;
  }
}
