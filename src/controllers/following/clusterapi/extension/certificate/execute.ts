/**
 * Keeps the certificate of the update extension in its Secret. Any replica may write it, by compare-and-swap: the one that is first makes
 * it, and the others read it again, so that all serve the same.
 */
import { MANAGER_CLUSTERAPI_UPDATE, NAMESPACE, UPDATE_EXTENSION } from '../../../../../api/names.ts';
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError } from '../../../../../kube/client/errors.ts';
import { SECRETS } from '../../../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import type { Log } from '../../../../../kube/process/log.ts';
import { AUTHORITY_DAYS } from '../../../../../local/pki/authority.ts';
import {
  type CertificatePair,
  createAuthority,
  issueCertificate,
} from '../../../../../local/pki/certificate.ts';
import {
  extensionRequest,
  planServingCertificate,
  type ServingDecision,
  type StoredCertificate,
} from './renewal.ts';

export interface CertificateParts {
  /** With the rights of kubenode-clusterapi. */
  readonly client: Pick<Client, 'get' | 'replace'>;
  readonly log: Log;
}

/** A conflict means that another replica wrote, and its certificate is served. Each of four replicas may be first once. */
const ATTEMPTS = 5;
/** Another name than that of the certificate, which OpenSSL otherwise takes for a self-signed one. */
const AUTHORITY_NAME = `${UPDATE_EXTENSION}-ca`;
const SECRET = { name: UPDATE_EXTENSION, namespace: NAMESPACE };

/** Returns the certificate to serve. Rejects while the Secret cannot be read or written. */
export async function ensureCertificate(parts: CertificateParts, now: Date): Promise<CertificatePair> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ensureOnce(parts, now);
    } catch (error) {
      if (attempt === ATTEMPTS || !isKubeError(error, 'Conflict')) throw error;
    }
  }
}

async function ensureOnce({ client, log }: CertificateParts, now: Date): Promise<CertificatePair> {
  const secret = await client.get(SECRETS, SECRET);
  const decision = planServingCertificate(storedIn(secret), now);
  if (decision.type === 'Serve') return decision.pair;
  const { pair, data } = issue(decision, storedIn(secret), now);
  await client.replace(SECRETS, { ...secret, data }, { fieldManager: MANAGER_CLUSTERAPI_UPDATE });
  log.info('certificate of the update extension issued', { because: decision.because });
  return pair;
}

interface Issued {
  readonly pair: CertificatePair;
  readonly data: Readonly<Record<string, string>>;
}

function issue(
  decision: Exclude<ServingDecision, { type: 'Serve' }>,
  stored: StoredCertificate,
  now: Date,
): Issued {
  const isNew = decision.type === 'Replace';
  const authority = isNew ? createAuthority(AUTHORITY_NAME, now, AUTHORITY_DAYS) : decision.authority;
  const trusted = isNew ? authority.certPem + (decision.earlier ?? '') : (stored.authorities ?? '');
  const pair = issueCertificate(authority, extensionRequest(now));
  const texts = {
    [CA]: trusted,
    [CA_KEY]: authority.keyPem,
    [CERTIFICATE]: pair.certPem,
    [KEY]: pair.keyPem,
  };
  const data = Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  return { pair, data: Object.fromEntries(data) as Issued['data'] };
}

/** Cluster API reads this key; the others have the usual names. */
const CA = 'ca.crt';
const CA_KEY = 'ca.key';
const CERTIFICATE = 'tls.crt';
const KEY = 'tls.key';

function storedIn(secret: KubeObject): StoredCertificate {
  const text = (name: string): string | undefined => {
    const found = textAt(secret, 'data', name);
    return found === undefined ? undefined : Buffer.from(found, 'base64').toString('utf8');
  };
  return {
    authorities: text(CA),
    authorityKey: text(CA_KEY),
    certificate: text(CERTIFICATE),
    key: text(KEY),
  };
}
