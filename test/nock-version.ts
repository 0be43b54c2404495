/** Whether the matrix has put nock 15 in the place of nock 14. It intercepts deeper, so that less escapes the pacing. */
export const isNock15: boolean = process.env.HOSTPACE_CLIENT?.includes('/nock-15/') ?? false
