/* Scores documents by a LightGBM model file: a line of features on stdin, a score on stdout.
 *
 *     cc lightgbm.c -o score -L"$FOLDER" -l:lib_lightgbm.so -Wl,-rpath,"$FOLDER"
 *     ./score model.txt < features.txt
 *
 * FOLDER is lib/ in the Python package lightgbm, or where `cmake --install` put the library. With LightGBM's sources at
 * hand include <LightGBM/c_api.h> in place of the declarations.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LGBM_BoosterCreateFromModelfile(const char *path, int *rounds, void **model);
int LGBM_BoosterGetNumFeature(void *model, int *features);
int LGBM_BoosterPredictForMatSingleRow(void *model, const void *row, int type, int features, int row_major, int predict,
                                       int first_round, int rounds, const char *params, int64_t *length, double *score);
enum { DOUBLES = 1, RAW_SCORE = 1, ALL_ROUNDS = -1 };

int main(int argc, char **argv) {
    void *model;
    int rounds, features;
    if (argc != 2 || LGBM_BoosterCreateFromModelfile(argv[1], &rounds, &model)) return fprintf(stderr, "no model\n"), 1;
    LGBM_BoosterGetNumFeature(model, &features);
    double *row = malloc(features * sizeof *row), score;
    int64_t length;
    for (;;) {
        for (int i = 0; i < features; i++)
            if (scanf("%lf", &row[i]) != 1) return 0; /* "nan" is a missing value */
        if (LGBM_BoosterPredictForMatSingleRow(model, row, DOUBLES, features, 1, RAW_SCORE, 0, ALL_ROUNDS, "", &length,
                                               &score))
            return fprintf(stderr, "no score\n"), 1;
        printf("%.17g\n", score);
    }
}
