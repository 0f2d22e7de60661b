import { describe, expect, it } from 'vitest';
import { serveLater } from '../../../../src/cli/commands/controllers/late-server.ts';
import { isKubeError, KubeError, type KubeErrorCode } from '../../../../src/kube/client/errors.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

/** A server that starts after these errors. */
function bed(...codes: KubeErrorCode[]) {
  const clock = virtualClock();
  const observed = { tries: 0, closed: 0, reports: [] as string[] };
  const close = async (): Promise<void> => {
    await Promise.resolve();
    observed.closed += 1;
  };
  const serving = serveLater(
    async () => {
      await Promise.resolve();
      observed.tries += 1;
      const code = codes.shift();
      if (code) throw new KubeError(code, `refused: ${code}`);
      return { close };
    },
    {
      clock,
      isAwaited: (error) => isKubeError(error, 'NotFound', 'Forbidden'),
      report: (because) => void observed.reports.push(because),
    },
  );
  return { clock, observed, serving };
}

describe('serveLater', () => {
  it('starts at once where nothing is missing, and closes it', async () => {
    const { observed, serving } = bed();
    await (await serving).close();
    expect(observed).toEqual({ tries: 1, closed: 1, reports: [] });
  });

  it('lets the process run, and starts once the error has ended, with one report for each reason', async () => {
    const { clock, observed, serving } = bed('NotFound', 'NotFound', 'Forbidden');
    const server = await serving;
    expect(observed.reports).toEqual(['refused: NotFound']);
    await clock.advance(60_000);
    expect(observed).toMatchObject({ tries: 4, reports: ['refused: NotFound', 'refused: Forbidden'] });
    await server.close();
    expect(observed.closed).toBe(1);
  });

  it('ends without a server while it waits', async () => {
    const { clock, observed, serving } = bed('NotFound', 'NotFound');
    await (await serving).close();
    await clock.advance(60_000);
    expect(observed).toMatchObject({ tries: 1, closed: 0 });
  });

  it('rejects with any other error of the first try', async () => {
    await expect(bed('Unreachable').serving).rejects.toThrow('refused: Unreachable');
  });
});
