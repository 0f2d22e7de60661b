import { describe, expect, it } from 'vitest';
import { extensionSettings } from '../../../../src/cli/commands/controllers/cluster-api.ts';

const WITH_FILES = {
  clusterApi: true,
  extensionPort: 8444,
  extensionCert: 'tls.crt',
  extensionKey: 'tls.key',
} as const;
const WITH_SECRET = { clusterApi: true, extensionPort: 8444, extensionSecret: true } as const;
const REFUSED = 'needs --cluster-api, --extension-port, and';

describe('the options of the update extension', () => {
  it('serve it with a port, a certificate and a key beside --cluster-api, or not at all', () => {
    const files = { certFile: 'tls.crt', keyFile: 'tls.key' };
    expect(extensionSettings(WITH_FILES)).toEqual({ port: 8444, certificate: files });
    expect(extensionSettings({ ...WITH_FILES, extensionClientCa: 'ca.crt' })).toEqual({
      port: 8444,
      certificate: { ...files, clientCaFile: 'ca.crt' },
    });
    expect(extensionSettings({ clusterApi: true })).toBeUndefined();
    for (const field of Object.keys(WITH_FILES)) {
      const { [field as keyof typeof WITH_FILES]: _, ...rest } = WITH_FILES;
      expect(() => extensionSettings(rest)).toThrow(REFUSED);
    }
  });

  it('take the certificate from the Secret instead of files, and refuse both', () => {
    expect(extensionSettings(WITH_SECRET)).toEqual({ port: 8444, certificate: 'Secret' });
    for (const field of ['clusterApi', 'extensionPort'] as const) {
      const { [field]: _, ...rest } = WITH_SECRET;
      expect(() => extensionSettings(rest)).toThrow(REFUSED);
    }
    for (const file of ['extensionCert', 'extensionKey', 'extensionClientCa']) {
      expect(() => extensionSettings({ ...WITH_SECRET, [file]: 'file' })).toThrow(REFUSED);
    }
  });
});
