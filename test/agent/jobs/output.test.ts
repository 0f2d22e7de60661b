import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { outputTail, runName, storeOutput, sweepOutputs } from '../../../src/agent/jobs/output.ts';
import { jobStepKey } from '../../../src/agent/journal/jobs.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { stepProgress } from '../../support/agent/jobs.ts';

const FOLDER = '/var/lib/kubenode/jobs';

describe('the output of a step', () => {
  it('AGT-53 keeps at most a megabyte on the host and the end of it in the status, without secrets', async () => {
    const { files } = createProxyHost();
    const output = `Authorization: Bearer abcdefghijklmnop\n${'line\n'.repeat(300_000)}password: hunter2hunter2\nthe end\n`;
    const stored = await storeOutput(files, stepProgress(), output);
    const content = (await files.read(`${FOLDER}/job-1-s1-1/output.txt`)) ?? new Uint8Array();
    expect(content.length).toBe(1024 ** 2);
    expect(stored.outputDigest).toBe(`sha256:${createHash('sha256').update(content).digest('hex')}`);
    expect(Array.from(stored.output).length).toBeLessThanOrEqual(2048);
    const short = await storeOutput(files, stepProgress(), 'token: abcdefghijkl\nthe end\n');
    expect(short.output).toBe('token: ***\nthe end');
    for (const text of [new TextDecoder().decode(content), stored.output, short.output]) {
      expect(text).not.toMatch(/abcdefgh|hunter2/);
    }
  });

  it('has no control characters, and is not longer after they are escaped', () => {
    expect(outputTail('a\u001b[31mb')).toBe(String.raw`a\u001b[31mb`);
    expect(outputTail('\u0000'.repeat(5000)).length).toBeLessThanOrEqual(2048);
    expect(Array.from(outputTail('😀'.repeat(3000))).length).toBe(2048);
  });

  it('stays in its folder, whatever the ids of a step are', () => {
    expect(runName({ job: '../../etc', step: 'a/b', try: 1 })).toBe('______etc-a_b-1');
  });

  it('is kept for the newest steps', async () => {
    const { files } = createProxyHost();
    const steps = Array.from({ length: 30 }, (_, index) => stepProgress({ step: `s${index}` }));
    for (const each of steps) await storeOutput(files, each, 'x');
    await sweepOutputs(files, new Map(steps.map((each) => [jobStepKey(each), each])));
    const left = await files.list(FOLDER);
    expect(left).toHaveLength(20);
    expect(left).toContain('job-1-s29-1');
    expect(left).not.toContain('job-1-s9-1');
  });
});
