import { describe, expect, it } from 'vitest';
import { warnWithoutPipeline } from '../../../../src/cli/commands/sync/bootstrap.ts';
import { memoryLog } from '../../../support/memory-log.ts';

describe('warnWithoutPipeline', () => {
  it.each<[name: string, pipelines: number, from: string | undefined, warnings: number]>([
    ['tells how to create the Pipelines of a hub that has none', 0, undefined, 1],
    ['tells nothing when the hub has a Pipeline', 1, undefined, 0],
    ['tells nothing right after --from created one, which the watch may not show yet', 0, '../fleet', 0],
  ])('%s', (_, pipelines, from, warnings) => {
    const log = memoryLog();
    warnWithoutPipeline(log, pipelines, from);
    expect(log.lines).toHaveLength(warnings);
    for (const { fields } of log.lines) {
      expect(fields['hint']).toContain('kubenode sync --from REPOSITORY');
    }
  });
});
