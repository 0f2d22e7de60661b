/** Signs certificate requests with any validity: a signer of Kubernetes under a virtual clock. */
import { generateKeyPairSync, sign } from 'node:crypto';
import * as der from '../../src/os/x509/der.ts';
import { readElement, readElements } from '../../src/os/x509/der-reader.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

export function signRequest(pem: string, notBefore: Date, notAfter: Date): string {
  const bytes = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64');
  const [info] = readElements(readElement(bytes, 0x30).content);
  const [, subject, publicKey] = readElements(info?.content ?? Buffer.alloc(0));
  if (!subject || !publicKey) throw new Error('not a certificate request');
  const algorithm = der.sequence(der.objectId('1.2.840.10045.4.3.2'));
  const tbs = der.sequence(
    der.tagged(0, der.integer(Buffer.from([2])), 'constructed'),
    der.integer(Buffer.from([1])),
    algorithm,
    subject.bytes,
    der.sequence(der.timestamp(notBefore), der.timestamp(notAfter)),
    subject.bytes,
    publicKey.bytes,
  );
  const certificate = der.sequence(tbs, algorithm, der.bits(sign('sha256', tbs, privateKey)));
  return `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`;
}
