/** Readable forms of what a render returns, for tests. */
import type { RenderError } from '../../../src/sync/render/errors.ts';
import type { RenderResult } from '../../../src/sync/render/result.ts';

/** `target/unit: Kind/name [file, construct]`, in order. */
export function outlineOf({ targets }: Pick<RenderResult, 'targets'>): string[] {
  return targets.flatMap(({ target, units }) =>
    units.flatMap(({ unit, objects }) =>
      objects.map(
        ({ object, source }) =>
          `${target}/${unit}: ${object.kind}/${object.metadata.name} [${source.file}${source.construct ? `, ${source.construct}` : ''}]`,
      ),
    ),
  );
}

/** The data of the first object of the cluster `test`. */
export function dataOf({ targets }: Pick<RenderResult, 'targets'>): unknown {
  const object = targets.find(({ target }) => target === 'test')?.units[0]?.objects[0]?.object;
  return object?.['data'];
}

export async function failureOf(render: Promise<unknown>): Promise<RenderError> {
  return render.then(
    () => {
      throw new Error('the render succeeded');
    },
    (error: unknown) => error as RenderError,
  );
}
