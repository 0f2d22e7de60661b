/** Bounds what is kept in memory. */

/** Sets the entry as the newest of the map. The oldest are forgotten when there are more than `max`. */
export function setNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) if (map.size > max) map.delete(oldest);
}
