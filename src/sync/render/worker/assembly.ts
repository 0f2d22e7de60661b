/** Puts the objects of a result together: they come in parts, each followed by its unit and target. */
import type { RenderedObject, RenderedTarget, RenderedUnit } from '../../rendered.ts';
import type { RenderMessage } from './protocol.ts';

export interface Assembly {
  readonly targets: readonly RenderedTarget[];
  /** False for a message that is not about objects. */
  add(message: RenderMessage): boolean;
}

export function createAssembly(): Assembly {
  const targets: RenderedTarget[] = [];
  let units: RenderedUnit[] = [];
  let objects: RenderedObject[] = [];
  return { targets, add };

  function add(message: RenderMessage): boolean {
    if ('objects' in message) {
      objects.push(...message.objects);
    } else if ('unit' in message) {
      units.push({ ...message.unit, objects });
      objects = [];
    } else if ('target' in message) {
      targets.push({ ...message.target, units });
      units = [];
    } else {
      return false;
    }
    return true;
  }
}
