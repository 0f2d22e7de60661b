import { describe, expect, it } from 'vitest';
import {
  createServerVersionsReader,
  type ServerVersionsOptions,
} from '../../../../src/controllers/componentset/servers/read-versions.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

/** API servers by address. A server without a version does not answer. */
class ControlPlane {
  readonly clock = virtualClock();
  readonly versions = new Map<string, string | undefined>();
  calls: string[] = [];
  open = 0;
  own: string | undefined = 'v1.35.0';
  stale: string | undefined;

  readonly options: ServerVersionsOptions = {
    clock: this.clock,
    client: {
      server: 'https://lb:443',
      raw: () => this.#version('https://lb:443', this.own),
    },
    servers: { urls: () => [...this.versions.keys()], staleReason: () => this.stale },
    connectTo: async (url) => {
      this.open += 1;
      return {
        raw: () => this.#version(url, this.versions.get(url)),
        close: async () => {
          this.open -= 1;
        },
      };
    },
  };

  async #version(url: string, gitVersion: string | undefined): Promise<unknown> {
    this.calls.push(url);
    if (gitVersion === undefined) throw new Error(`GET ${url}/version: no answer within 5 s`);
    return gitVersion === 'none' ? {} : { gitVersion };
  }
}

function controlPlane(versions: Readonly<Record<string, string | undefined>> = {}): ControlPlane {
  const plane = new ControlPlane();
  for (const [address, version] of Object.entries(versions)) {
    plane.versions.set(`https://${address}:6443`, version);
  }
  return plane;
}

describe('createServerVersionsReader', () => {
  it('ROL-53 reads the version of each API server at its own address', async () => {
    const plane = controlPlane({ '10.0.0.1': 'v1.35.0', '10.0.0.2': 'v1.34.2' });
    const read = createServerVersionsReader(plane.options);
    expect(await read()).toEqual({ state: 'Known', versions: ['v1.35.0', 'v1.35.0', 'v1.34.2'] });
    expect(plane.open).toBe(0);
  });

  it('ROL-53 knows nothing when one of them does not answer', async () => {
    const plane = controlPlane({ '10.0.0.1': 'v1.35.0', '10.0.0.2': undefined });
    const read = createServerVersionsReader(plane.options);
    const because = 'GET https://10.0.0.2:6443/version: no answer within 5 s';
    expect(await read()).toEqual({ state: 'Unknown', because });
    expect(plane.open).toBe(0);
  });

  it('ROL-53 knows nothing while the endpoints are not observed, and asks no server', async () => {
    const plane = controlPlane({ '10.0.0.1': 'v1.35.0' });
    plane.stale = 'EndpointSlice: no contact with the API server for 151 s';
    const read = createServerVersionsReader(plane.options);
    expect(await read()).toEqual({ state: 'Unknown', because: plane.stale });
    expect(plane.calls).toEqual([]);
  });

  it('ROL-53 knows nothing when an answer has no version', async () => {
    const strange = controlPlane({ '10.0.0.1': 'none' });
    const because = 'https://10.0.0.1:6443/version: expected gitVersion in the answer';
    expect(await createServerVersionsReader(strange.options)()).toEqual({ state: 'Unknown', because });
  });

  it('ROL-53 asks its own server where the control plane writes no endpoints', async () => {
    const plane = controlPlane();
    const read = createServerVersionsReader(plane.options);
    expect(await read()).toEqual({ state: 'Known', versions: ['v1.35.0'] });
  });

  it('ROL-64 asks once for all sets of some seconds, and again after that', async () => {
    const plane = controlPlane({ '10.0.0.1': 'v1.35.0' });
    const read = createServerVersionsReader(plane.options);
    await Promise.all([read(), read()]);
    expect(plane.calls).toEqual(['https://lb:443', 'https://10.0.0.1:6443']);
    plane.versions.set('https://10.0.0.1:6443', 'v1.36.0');
    await plane.clock.advance(14_999);
    expect(await read()).toMatchObject({ versions: ['v1.35.0', 'v1.35.0'] });
    await plane.clock.advance(1);
    expect(await read()).toMatchObject({ versions: ['v1.35.0', 'v1.36.0'] });
  });
});
