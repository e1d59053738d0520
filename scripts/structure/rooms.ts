/** How large each folder of the source may be. A ceiling only ever comes down: lower it when a folder has shrunk. */
export interface Room {
  /** What the folder should come to. */
  targetLines: number;
  mostLines: number;
  mostFiles: number;
  /** Files on the longest way of imports within the folder. */
  longestChain: number;
  /** Groups of files in the folder that import each other, types included. */
  cycles: number;
}

export const rooms: Record<string, Room> = {
  cli: { targetLines: 1500, mostLines: 3000, mostFiles: 42, longestChain: 10, cycles: 0 },
  run: { targetLines: 3000, mostLines: 7220, mostFiles: 70, longestChain: 10, cycles: 0 },
  kube: { targetLines: 4000, mostLines: 5700, mostFiles: 60, longestChain: 6, cycles: 0 },
  model: { targetLines: 2000, mostLines: 3640, mostFiles: 29, longestChain: 8, cycles: 0 },
  infer: { targetLines: 2000, mostLines: 5620, mostFiles: 38, longestChain: 7, cycles: 0 },
  verdict: { targetLines: 2800, mostLines: 4700, mostFiles: 34, longestChain: 6, cycles: 0 },
  render: { targetLines: 4000, mostLines: 5050, mostFiles: 40, longestChain: 7, cycles: 0 },
  recording: { targetLines: 500, mostLines: 700, mostFiles: 16, longestChain: 2, cycles: 0 },
  export: { targetLines: 300, mostLines: 360, mostFiles: 14, longestChain: 3, cycles: 0 },
  probe: { targetLines: 1500, mostLines: 1550, mostFiles: 20, longestChain: 8, cycles: 0 },
  advice: { targetLines: 3500, mostLines: 5340, mostFiles: 40, longestChain: 6, cycles: 0 },
  demo: { targetLines: 2300, mostLines: 3570, mostFiles: 52, longestChain: 8, cycles: 0 },
};

/** The same for all folders together; imports that are only made when reached count as well. */
export const house = { mostLines: 33_500, longestChain: 20, cycles: 0 };
