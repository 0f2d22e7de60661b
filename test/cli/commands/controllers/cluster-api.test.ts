import { describe, expect, it } from 'vitest';
import { extensionFiles } from '../../../../src/cli/commands/controllers/cluster-api.ts';

const ALL = {
  clusterApi: true,
  extensionPort: 8444,
  extensionCert: 'tls.crt',
  extensionKey: 'tls.key',
} as const;

describe('the options of the update extension', () => {
  it('serve it with a port, a certificate and a key beside --cluster-api, or not at all', () => {
    const files = { port: 8444, certFile: 'tls.crt', keyFile: 'tls.key' };
    expect(extensionFiles(ALL)).toEqual(files);
    expect(extensionFiles({ ...ALL, extensionClientCa: 'ca.crt' })).toEqual({
      ...files,
      clientCaFile: 'ca.crt',
    });
    expect(extensionFiles({ clusterApi: true })).toBeUndefined();
    for (const field of Object.keys(ALL)) {
      const { [field as keyof typeof ALL]: _, ...rest } = ALL;
      expect(() => extensionFiles(rest)).toThrow('needs --cluster-api, --extension-port');
    }
  });
});
