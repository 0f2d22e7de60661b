import { describe, expect, it } from 'vitest';
import { SSH, selectorOf } from '../../../../src/providers/ssh/pool/config.ts';

// Which configs are refused is in the contract: provider.test.ts.
describe('spec.infra.config of provider ssh', () => {
  it('asks for a host of a pool, or for none: then spec.import names the host', () => {
    expect(SSH.hasInstance({ config: { pool: 'rack7' }, host: 'systemd' })).toBe(true);
    expect(SSH.hasInstance({ config: {}, host: 'systemd' })).toBe(false);
    expect(SSH.configReason({ config: {}, host: 'systemd' })).toBeUndefined();
  });

  it('selects by labels, and by the zone of the Machine', () => {
    const config = { pool: 'rack7', selector: { disk: 'nvme' } };
    expect(selectorOf({ config, host: 'systemd', zone: 'a' })).toEqual({
      pool: 'rack7',
      labels: { disk: 'nvme' },
      zone: 'a',
    });
    expect(selectorOf({ config: { pool: 'rack7' }, host: 'systemd' })).toEqual({ pool: 'rack7', labels: {} });
  });

  it.each([[{}], [{ pool: 'Rack 7' }], [{ pool: 'rack7', selector: 3 }]])(
    'selects nothing for %j',
    (config) => {
      expect(selectorOf({ config, host: 'systemd' })).toBeUndefined();
    },
  );
});
