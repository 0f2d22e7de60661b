import { describe, expect, it } from 'vitest';
import { filesOf } from '../../../../src/cli/commands/controllers/http.ts';

const ALL = { defenderPort: 8443, defenderCert: 'tls.crt', defenderKey: 'tls.key' };

describe('the options of the HTTP API', () => {
  it('serve it with a port, a certificate and a key, or not at all', () => {
    expect(filesOf(ALL)).toEqual({ port: 8443, certFile: 'tls.crt', keyFile: 'tls.key' });
    expect(filesOf({})).toBeUndefined();
    for (const field of Object.keys(ALL)) {
      const { [field as keyof typeof ALL]: _, ...rest } = ALL;
      expect(() => filesOf(rest)).toThrow('needs --defender-port, --defender-cert and --defender-key');
    }
  });
});
