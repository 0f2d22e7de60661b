/** A real OpenTelemetry Collector as a child of the test: the program `otelcol`, where it is installed. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { findFreePort } from '../../src/os/net/ports.ts';
import { eventually } from './eventually.ts';
import { tempFolder } from './temp.ts';

export const hasOtelcol = spawnSync('otelcol', ['--version']).status === 0;

export interface Otelcol {
  readonly endpoint: string;
  /** What the exporter `debug` prints of each span. */
  printed(): string;
}

export async function startOtelcol(): Promise<Otelcol> {
  const port = await findFreePort();
  const file = join(tempFolder('otelcol'), 'config.yaml');
  writeFileSync(
    file,
    stringify({
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { debug: { verbosity: 'detailed' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: { traces: { receivers: ['otlp'], exporters: ['debug'] } },
      },
    }),
  );
  const child = spawn('otelcol', ['--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  const isReady = async (): Promise<true | undefined> =>
    text.includes('Everything is ready') ? true : undefined;
  await eventually(isReady, 'the collector did not start', 20_000);
  return { endpoint: `http://127.0.0.1:${port}`, printed: () => text };
}
