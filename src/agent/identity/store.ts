/** The key and the certificate of one identity on the disk of the host, readable by root only. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { publicKeySha256 } from '../../os/x509/certificate-request.ts';
import type { HostFiles } from '../host/port.ts';
import type { HeldCertificate } from './plan.ts';

const PRIVATE = { mode: '0600', owner: 'root:root' };

export interface IdentityFiles {
  /** Certificate and key in one file, so that no crash leaves one without the other. */
  readonly certificate: string;
  /** A key without a certificate. */
  readonly pendingKey: string;
}

export interface IdentityStore {
  held(): Promise<HeldCertificate | undefined>;
  pendingKey(): Promise<KeyObject | undefined>;
  writePendingKey(key: KeyObject): Promise<void>;
  /** The certificate replaces the one before it at once. */
  store(certificatePem: string, key: KeyObject): Promise<void>;
  forgetPendingKey(): Promise<void>;
}

export function identityFiles(directory: string): IdentityFiles {
  return { certificate: `${directory}/current.pem`, pendingKey: `${directory}/pending.key` };
}

export function createIdentityStore(
  files: Pick<HostFiles, 'read' | 'write' | 'remove' | 'makeDirectory'>,
  paths: IdentityFiles,
): IdentityStore {
  async function text(path: string): Promise<string | undefined> {
    const content = await files.read(path);
    return content && new TextDecoder().decode(content);
  }
  async function write(path: string, content: string): Promise<void> {
    await files.makeDirectory(path.slice(0, path.lastIndexOf('/')), '0700');
    await files.write(path, new TextEncoder().encode(content), PRIVATE);
  }
  return {
    held: async () => parseHeld(await text(paths.certificate)),
    pendingKey: async () => parseKey(await text(paths.pendingKey)),
    writePendingKey: (key) => write(paths.pendingKey, pemOf(key)),
    async store(certificatePem, key) {
      await write(paths.certificate, `${certificatePem.trimEnd()}\n${pemOf(key)}`);
    },
    forgetPendingKey: () => files.remove(paths.pendingKey),
  };
}

/** Parses the file. Undefined for one that is damaged, and for a key that is not that of the certificate. */
function parseHeld(text: string | undefined): HeldCertificate | undefined {
  const key = parseKey(text);
  if (text === undefined || !key) return undefined;
  try {
    const certificate = new X509Certificate(text);
    if (!certificate.checkPrivateKey(key)) return undefined;
    const { validFromDate: notBefore, validToDate: notAfter } = certificate;
    return { notBefore, notAfter, keySha256: publicKeySha256(key), certificate };
  } catch {
    return undefined;
  }
}

function parseKey(text: string | undefined): KeyObject | undefined {
  try {
    return text === undefined ? undefined : createPrivateKey(text);
  } catch {
    return undefined;
  }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}
